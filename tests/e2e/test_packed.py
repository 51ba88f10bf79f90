# SPDX-License-Identifier: Apache-2.0
"""Compressed messages: what is packed as it says is read, all else is refused and costs nothing.

C core drops an encoding that it does not know, and with it that the message was packed; its bytes
are then read as they are, and packed ones are no request.
"""
import gzip
import struct
import zlib

import pytest
import rawh2
import weirserver
from weirserver import METHOD, same

RULES = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: 5}}]\n"
GOOD = weirserver.oraclelib.build_request({"domain": "d", "desc": [[["k", "a"]]]}).SerializeToString()
PEEK = {"entries": [["k", "a"]], "hits": 0}
PLAIN, PACKED = b"\0", b"\1"


def send(server, mark, data, **fields):
    with rawh2.Connection(server.port) as raw:
        raw.send(rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, 1, rawh2.headers(METHOD, **fields)),
                 rawh2.frame(rawh2.DATA, rawh2.END_STREAM, 1, mark + struct.pack(">I", len(data)) + data))
        assert raw.wait_end(1) is not None


@pytest.mark.parametrize("encoding, pack", [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_packed_as_it_says(launch, encoding, pack):
    server = launch(RULES)
    send(server, PACKED, pack(GOOD), grpc_encoding=encoding)
    send(server, PLAIN, GOOD, grpc_encoding=encoding)
    same("OK: OK 3 of 5/HOUR", server.caller().call("d", PEEK))


@pytest.mark.parametrize("mark, data, fields", [
    (PACKED, GOOD, {"grpc_encoding": "gzip"}),
    (PACKED, gzip.compress(GOOD, mtime=0)[:-4], {"grpc_encoding": "gzip"}),
    (PACKED, gzip.compress(GOOD, mtime=0) + b"x", {"grpc_encoding": "gzip"}),
    (PACKED, gzip.compress(GOOD, mtime=0), {}),
    (PACKED, gzip.compress(GOOD, mtime=0), {"grpc_encoding": "identity"}),
    (PACKED, gzip.compress(GOOD, mtime=0), {"grpc_encoding": "snappy"}),
    (PLAIN, gzip.compress(GOOD, mtime=0), {"grpc_encoding": "gzip"}),
    (b"\2", GOOD, {}),
    (b"\xff", GOOD, {"grpc_encoding": "gzip"}),
])
def test_packed_otherwise_costs_nothing(launch, mark, data, fields):
    server = launch(RULES)
    send(server, mark, data, **fields)
    same("OK: OK 5 of 5/HOUR", server.caller().call("d", PEEK))
