# SPDX-License-Identifier: Apache-2.0
"""Ports of 127.0.0.1 for what is started later, or ends and is started again."""
import collections
import socket

HELD = collections.deque(maxlen=200)


def free_port():
    """One that nobody else is given for long: it is bound, and nobody listens there. Servers, which set
    SO_REUSEADDR, may."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    HELD.append(held)
    return held.getsockname()[1]
