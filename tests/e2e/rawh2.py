# SPDX-License-Identifier: Apache-2.0
"""A few HTTP/2 frames by hand (RFC 9113), for what a gRPC library keeps its callers from sending."""
import socket
import struct

from weirserver import PATIENCE_SECONDS

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
END_STREAM, ACK, END_HEADERS = 1, 1, 4
CANCEL = 8


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """A header field that is neither indexed nor Huffman-coded (RFC 7541, 6.2.2)."""
    return b"\x00" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def remembered(name, value):
    """The same, and both sides give it the next index from 62 on (6.2.1)."""
    return b"\x40" + literal(name, value)[1:]


def headers(path, write=literal, **more):
    fields = {":method": "POST", ":scheme": "http", ":path": path, ":authority": "test",
              "content-type": "application/grpc", "te": "trailers"}
    fields.update({k.replace("_", "-"): v for k, v in more.items()})
    return b"".join(write(k, v) for k, v in fields.items())


def message(data):
    return b"\x00" + struct.pack(">I", len(data)) + data


class Connection:
    """One connection; streams are numbered by the caller: 1, 3, 5, …"""

    def __init__(self, port, settings=None):
        """settings: {number: value} of the first frame."""
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
        payload = b"".join(struct.pack(">HI", k, v) for k, v in (settings or {}).items())
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0, payload))

    @classmethod
    def of(cls, sock):
        """Reads from a socket that has been spoken to already."""
        connection = cls.__new__(cls)
        connection.socket = sock
        return connection

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *frames):
        self.socket.sendall(b"".join(frames))

    def frames(self):
        """(kind, flags, stream, payload) of what arrives, until the other side closes."""
        while head := self.read(9):
            size = int.from_bytes(head[:3], "big")
            yield head[3], head[4], int.from_bytes(head[5:9], "big") & 0x7fffffff, self.read(size)

    def read(self, size):
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                return b""
            data += more
        return data

    def ping(self):
        """Waits until the other side has read everything that was sent before."""
        self.send(frame(PING, 0, 0, b"12345678"))
        for kind, flags, _, _ in self.frames():
            if kind == PING and flags & ACK:
                return

    def wait_end(self, stream):
        """Waits until the stream is over: trailers, or a reset."""
        for kind, flags, number, _ in self.frames():
            if number == stream and (kind == RST_STREAM or flags & END_STREAM):
                return kind
        return None
