# SPDX-License-Identifier: Apache-2.0
# cmake -DNAME=… -DHEADER=… -DINPUT=… -DOUTPUT=… -P WeirEmbed.cmake - a file as a C array: NAME and
# NAME_len, which HEADER declares.
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"\n\n"
    "const unsigned char ${NAME}[] = {\n${bytes}};\n"
    "const size_t ${NAME}_len = sizeof ${NAME};\n")
