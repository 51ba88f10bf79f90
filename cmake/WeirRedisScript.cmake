# SPDX-License-Identifier: Apache-2.0
# cmake -DNAME=… -DHEADER=… -DINPUT=… -DOUTPUT=… -P WeirRedisScript.cmake - a Lua script in C, as
# HEADER declares it: NAME_sha1, its name in Redis, and NAME_load and NAME_load_len, the command
# that loads it.
file(SHA1 "${INPUT}" sha1)
file(SIZE "${INPUT}" size)
file(READ "${INPUT}" script HEX)
string(HEX "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$${size}\r\n" head)
set(bytes "${head}${script}0d0a")
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"\n\n"
    "const char ${NAME}_sha1[41] = \"${sha1}\";\n"
    "const char ${NAME}_load[] = {\n${bytes}};\n"
    "const size_t ${NAME}_load_len = sizeof ${NAME}_load;\n")
