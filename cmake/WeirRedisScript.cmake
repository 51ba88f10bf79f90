# SPDX-License-Identifier: Apache-2.0
# cmake -DNAME=… -DHEADER=… -DINPUTS=…;… -DOUTPUT=… -P WeirRedisScript.cmake - the parts of a Lua
# script, joined, in C, as HEADER declares it: NAME_sha1, its name in Redis, and NAME_load and
# NAME_load_len, the command that loads it.
set(text "${OUTPUT}.lua")
execute_process(COMMAND "${CMAKE_COMMAND}" -E cat ${INPUTS} OUTPUT_FILE "${text}" COMMAND_ERROR_IS_FATAL ANY)
file(SHA1 "${text}" sha1)
file(SIZE "${text}" size)
file(READ "${text}" script HEX)
string(HEX "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$${size}\r\n" head)
set(bytes "${head}${script}0d0a")
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"\n\n"
    "const char ${NAME}_sha1[41] = \"${sha1}\";\n"
    "const char ${NAME}_load[] = {\n${bytes}};\n"
    "const size_t ${NAME}_load_len = sizeof ${NAME}_load;\n")
