/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto/descriptors.h - what reflection tells: the services served and the types they need.
 *
 * One serialized google.protobuf.FileDescriptorSet, made by protoc from the files beside this one
 * and linked in as bytes. Every file comes after the files that it imports.
 *
 * Threads: constant data, safe to read from any thread.
 */
#ifndef WR_PROTO_DESCRIPTORS_H
#define WR_PROTO_DESCRIPTORS_H

#include <stddef.h>

extern const unsigned char wr_proto_descriptors[];
extern const size_t wr_proto_descriptors_len;

#endif
