# SPDX-License-Identifier: Apache-2.0
# Code from proto/, always made in the build directory. A file is named by its path below proto/, or
# below the directory of protobuf's own files (google/protobuf/*.proto).
find_program(PROTOC protoc REQUIRED)
find_program(PROTOC_C protoc-c REQUIRED)
find_program(PROTOC_GEN_NANOPB protoc-gen-nanopb REQUIRED)
find_path(PROTOBUF_INCLUDE_DIR google/protobuf/descriptor.proto REQUIRED)
pkg_check_modules(protobuf-c REQUIRED IMPORTED_TARGET libprotobuf-c)
find_package(nanopb REQUIRED)

get_filename_component(wr_proto_dir "${CMAKE_CURRENT_LIST_DIR}/../proto" ABSOLUTE)
set(wr_proto_embed "${CMAKE_CURRENT_LIST_DIR}/WeirEmbed.cmake")
set(wr_proto_path "-I${wr_proto_dir}" "-I${PROTOBUF_INCLUDE_DIR}")

# What a caller of the rate limit service needs; the default of wr_nanopb.
set(WR_RLS_PROTOS
    envoy/config/core/v3/base.proto
    envoy/extensions/common/ratelimit/v3/ratelimit.proto
    envoy/service/ratelimit/v3/rls.proto
    envoy/type/v3/ratelimit_unit.proto
    google/protobuf/duration.proto
    google/protobuf/struct.proto
    google/protobuf/timestamp.proto
    google/protobuf/wrappers.proto)

# All files that a generator may read: one run makes everything, so any change makes everything anew.
function(wr_proto_inputs result)
    file(GLOB_RECURSE inputs CONFIGURE_DEPENDS "${wr_proto_dir}/*.proto")
    foreach(proto IN LISTS ARGN)
        if(NOT EXISTS "${wr_proto_dir}/${proto}")
            list(APPEND inputs "${PROTOBUF_INCLUDE_DIR}/${proto}")
        endif()
    endforeach()
    set(${result} "${inputs}" PARENT_SCOPE)
endfunction()

# wr_proto_outputs(RESULT DIR SUFFIX PROTOS…) - DIR/a/b.proto becomes DIR/a/b<SUFFIX>.{c,h}.
function(wr_proto_outputs result dir suffix)
    foreach(proto IN LISTS ARGN)
        string(REGEX REPLACE "\\.proto$" "${suffix}" stem "${proto}")
        list(APPEND outputs "${dir}/${stem}.c" "${dir}/${stem}.h")
    endforeach()
    set(${result} "${outputs}" PARENT_SCOPE)
endfunction()

# A static library of generated code. Users see its headers as system headers; no warnings are
# asked of it, which is why it links wr_language and not wr_flags.
function(wr_proto_library target dir)
    add_library(${target} STATIC ${ARGN})
    target_include_directories(${target} SYSTEM PUBLIC "${dir}")
    target_link_libraries(${target} PRIVATE wr_language)
endfunction()

# wr_protobuf_c(TARGET PROTOS …) - protobuf-c code. PROTOS must name the imports too.
function(wr_protobuf_c target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PROTOS")
    set(dir "${CMAKE_CURRENT_BINARY_DIR}/${target}")
    wr_proto_inputs(inputs ${arg_PROTOS})
    wr_proto_outputs(outputs "${dir}" ".pb-c" ${arg_PROTOS})
    add_custom_command(OUTPUT ${outputs}
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${dir}"
        COMMAND "${PROTOC_C}" ${wr_proto_path} "--c_out=${dir}" ${arg_PROTOS}
        DEPENDS ${inputs} COMMENT "protobuf-c code for ${target}" VERBATIM)
    wr_proto_library(${target} "${dir}" ${outputs})
    target_link_libraries(${target} PUBLIC PkgConfig::protobuf-c)
endfunction()

# wr_nanopb(TARGET OPTIONS_DIR DIR [PROTOS …]) - nanopb code, fit for a shared library:
# `#include "envoy/service/ratelimit/v3/rls.pb.h"`. PROTOS (default: WR_RLS_PROTOS) must name the
# imports too. The options of a/b.proto are DIR/a/b.options; a line there that names no field, or a
# file there that belongs to no proto, is an error.
function(wr_nanopb target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "OPTIONS_DIR" "PROTOS")
    if(NOT arg_PROTOS)
        set(arg_PROTOS ${WR_RLS_PROTOS})
    endif()
    get_filename_component(options_dir "${arg_OPTIONS_DIR}" ABSOLUTE)
    file(GLOB_RECURSE options RELATIVE "${options_dir}" CONFIGURE_DEPENDS
        "${options_dir}/*.options")
    if(NOT options)
        message(FATAL_ERROR "${options_dir}: no .options files for ${target}")
    endif()
    foreach(file IN LISTS options)
        string(REGEX REPLACE "\\.options$" ".proto" proto "${file}")
        if(NOT proto IN_LIST arg_PROTOS)
            message(FATAL_ERROR "${options_dir}/${file}: ${target} has no ${proto}")
        endif()
    endforeach()
    list(TRANSFORM options PREPEND "${options_dir}/")
    set(dir "${CMAKE_CURRENT_BINARY_DIR}/${target}")
    wr_proto_inputs(inputs ${arg_PROTOS})
    wr_proto_outputs(outputs "${dir}" ".pb" ${arg_PROTOS})
    add_custom_command(OUTPUT ${outputs}
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${dir}"
        COMMAND "${PROTOC}" ${wr_proto_path} "--plugin=protoc-gen-nanopb=${PROTOC_GEN_NANOPB}"
            "--nanopb_opt=-I${options_dir}" --nanopb_opt=--error-on-unmatched
            "--nanopb_out=${dir}" ${arg_PROTOS}
        DEPENDS ${inputs} ${options} COMMENT "nanopb code for ${target}" VERBATIM)
    wr_proto_library(${target} "${dir}" ${outputs})
    target_link_libraries(${target} PUBLIC nanopb::protobuf-nanopb-static)
    # Nothing of nanopb is exported from a shared library that uses this.
    set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden)
    target_link_options(${target} INTERFACE LINKER:--exclude-libs,libprotobuf-nanopb.a)
    # On the files, since only there it comes after wr_language's -fPIE.
    set_source_files_properties(${outputs} PROPERTIES COMPILE_OPTIONS -fPIC)
endfunction()

# wr_descriptor_set(TARGET PROTOS …) - the FileDescriptorSet of PROTOS and all that they import, as
# constants TARGET and TARGET_len (proto/descriptors.h).
function(wr_descriptor_set target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PROTOS")
    set(stem "${CMAKE_CURRENT_BINARY_DIR}/${target}")
    wr_proto_inputs(inputs ${arg_PROTOS})
    add_custom_command(OUTPUT "${stem}.c" BYPRODUCTS "${stem}.bin"
        COMMAND "${PROTOC}" ${wr_proto_path} --include_imports
            "--descriptor_set_out=${stem}.bin" ${arg_PROTOS}
        COMMAND "${CMAKE_COMMAND}" "-DNAME=${target}" -DHEADER=proto/descriptors.h
            "-DINPUT=${stem}.bin" "-DOUTPUT=${stem}.c" -P "${wr_proto_embed}"
        DEPENDS ${inputs} "${wr_proto_embed}" COMMENT "descriptors for ${target}" VERBATIM)
    add_library(${target} STATIC "${stem}.c")
    get_filename_component(base_dir "${wr_proto_dir}" DIRECTORY)
    target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${base_dir}"
        FILES "${wr_proto_dir}/descriptors.h")
    set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
    target_link_libraries(${target} PUBLIC wr_language)
endfunction()
