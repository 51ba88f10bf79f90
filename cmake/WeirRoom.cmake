# SPDX-License-Identifier: Apache-2.0
# wr_room(NAME HEADERS … SOURCES … ROOMS … [PRIVATE …]) - one static library a room. ROOMS are the
# rooms it may include (the row of server/rooms.txt); PRIVATE are third-party libraries that only
# its own sources see. Each header is compiled alone by the target all_verify_interface_header_sets.
function(wr_room name)
    cmake_parse_arguments(arg "" "" "HEADERS;SOURCES;ROOMS;PRIVATE" ${ARGN})
    add_library(wr_${name} STATIC ${arg_SOURCES})
    target_sources(wr_${name} PUBLIC FILE_SET HEADERS BASE_DIRS "${CMAKE_SOURCE_DIR}/server"
        FILES ${arg_HEADERS})
    set_target_properties(wr_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
    foreach(room IN LISTS arg_ROOMS)
        target_link_libraries(wr_${name} PUBLIC wr_${room})
    endforeach()
    target_link_libraries(wr_${name} PUBLIC wr_flags Threads::Threads PRIVATE ${arg_PRIVATE})
endfunction()

# wr_unit_test(ROOM SOURCES … [LIBRARIES …]) - one Criterion program a room: bin/unit_ROOM.
function(wr_unit_test room)
    cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
    add_executable(unit_${room} ${arg_SOURCES})
    target_include_directories(unit_${room} PRIVATE "${CMAKE_SOURCE_DIR}")
    target_compile_options(unit_${room} PRIVATE ${WEIR_UNIT_FLAGS})
    target_link_libraries(unit_${room} PRIVATE ${arg_LIBRARIES} wr_flags PkgConfig::criterion)
    add_test(NAME unit_${room} COMMAND unit_${room})
endfunction()
