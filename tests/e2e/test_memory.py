# SPDX-License-Identifier: Apache-2.0
"""What a client can make the server hold in memory has a bound."""
import struct

from rawh2 import DATA, END_HEADERS, HEADERS, RST_STREAM, Connection, frame, headers
from weirserver import METHOD, same

WINDOW_UPDATE = 8
ENHANCE_YOUR_CALM = 11
MIB = 1 << 20
CHUNK = b"\x7a" * 16000
RULES = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: 5}}]\n"


def send_within_windows(connection, stream, total):
    """Sends `total` bytes as the peer opens its windows. -> (bytes sent, error code of a reset or None)"""
    left = {0: 65535 - 5, stream: 65535 - 5}
    frames = connection.frames()
    sent = 0
    while sent < total:
        if min(left.values()) >= len(CHUNK):
            connection.send(frame(DATA, 0, stream, CHUNK))
            left = {number: n - len(CHUNK) for number, n in left.items()}
            sent += len(CHUNK)
            continue
        kind, _, number, payload = next(frames, (None, 0, 0, b""))
        if kind is None:
            return sent, None
        if kind == WINDOW_UPDATE and number in left:
            left[number] += int.from_bytes(payload, "big")
        if kind == RST_STREAM and number == stream:
            return sent, int.from_bytes(payload, "big")
    return sent, None


def test_a_giant_message_is_reset_before_it_is_all_in_memory(launch):
    bound = 32 * MIB
    server = launch(RULES, "--max-buffer-bytes", str(bound), "--max-message-bytes", "1024")
    with Connection(server.port) as connection:
        connection.send(frame(HEADERS, END_HEADERS, 1, headers(METHOD)),
                        frame(DATA, 0, 1, b"\0" + struct.pack(">I", 512 * MIB)))
        sent, code = send_within_windows(connection, 1, 512 * MIB)
    assert code == ENHANCE_YOUR_CALM
    assert sent < 2 * bound, f"{sent} bytes were taken in"
    same("OK: OK 4 of 5/HOUR", server.caller().call("d", [["k", "v"]]))
