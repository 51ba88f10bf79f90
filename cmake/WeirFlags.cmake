# SPDX-License-Identifier: Apache-2.0
# One INTERFACE target carries the language level, the warnings and the hardening; generated code
# links wr_language alone, since it is not ours to warn about.
add_library(wr_language INTERFACE)
target_compile_features(wr_language INTERFACE c_std_11)
target_compile_definitions(wr_language INTERFACE _POSIX_C_SOURCE=200809L)
target_compile_options(wr_language INTERFACE
    $<$<CONFIG:Release>:-O2 -fstack-protector-strong>
    $<$<CONFIG:Debug>:-DWR_DEBUG>)
target_compile_definitions(wr_language INTERFACE $<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)
target_link_options(wr_language INTERFACE -Wl,-z,relro,-z,now)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)

add_library(wr_flags INTERFACE)
target_link_libraries(wr_flags INTERFACE wr_language)
target_compile_options(wr_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wcast-align
    -Wpointer-arith -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes
    -Wold-style-definition -Wformat=2 -Wundef -Wvla -Wswitch-enum -Wnull-dereference
    -Wdouble-promotion -Wimplicit-fallthrough -Werror
    $<$<C_COMPILER_ID:GNU>:-Wlogical-op;-Wduplicated-cond;-Wduplicated-branches;-Wjump-misses-init>
    $<$<C_COMPILER_ID:Clang>:-Wthread-safety>)
