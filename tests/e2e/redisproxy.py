# SPDX-License-Identifier: Apache-2.0
"""A wire to Redis that goes wrong: it delays, cuts in the middle of a reply, and makes rubbish of it."""
import selectors
import socket
import threading
import time

from weirserver import PATIENCE_SECONDS


class Proxy:
    """Passes bytes on, on a thread of its own. Knobs may be turned at any time:

    delay       seconds by which commands come late
    cut_after   bytes of replies after which the next connection to get there is closed; then None again
    rubbish     True: replies come as other bytes
    """

    def __init__(self, target_port):
        self.target_port = target_port
        self.delay, self.cut_after, self.rubbish = 0, None, False
        self.n_cuts = self.n_charges = 0    # connections that were cut, charges of domain d that were passed on
        self.selector = selectors.DefaultSelector()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.wake, self.woken = socket.socketpair()
        self.late = []      # (when, socket, bytes)
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.selector.register(self.listener, selectors.EVENT_READ, None)
        self.selector.register(self.woken, selectors.EVENT_READ, "end")
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.wake.send(b"x")
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.wake.close()
        self.selector.close()

    @property
    def url(self):
        return f"127.0.0.1:{self.port}"

    def run(self):
        while True:
            self.send_late()
            timeout = max(0, self.late[0][0] - time.monotonic()) if self.late else None
            for key, _ in self.selector.select(timeout):
                if key.data == "end":
                    return
                if key.data is None:
                    self.accept()
                elif key.fileobj.fileno() >= 0:
                    self.pass_on(key.fileobj, *key.data)

    def accept(self):
        near, _ = self.listener.accept()
        try:
            far = socket.create_connection(("127.0.0.1", self.target_port), timeout=PATIENCE_SECONDS)
        except OSError:
            near.close()
            return
        self.selector.register(near, selectors.EVENT_READ, (far, False))
        self.selector.register(far, selectors.EVENT_READ, (near, True))

    def send_late(self):
        while self.late and self.late[0][0] <= time.monotonic():
            _, to, data = self.late.pop(0)
            if to.fileno() >= 0:
                to.sendall(data)

    def pass_on(self, from_, to, is_reply):
        try:
            data = from_.recv(65536)
            if not data:
                self.close(from_, to)
            elif not is_reply:
                self.n_charges += data.count(b"{d|")
                self.late.append((time.monotonic() + self.delay, to, data))
                self.send_late()
            else:
                self.reply(from_, to, data)
        except OSError:
            self.close(from_, to)

    def reply(self, from_, to, data):
        if self.rubbish:
            data = bytes(b ^ 0x55 for b in data)
        if self.cut_after is not None and len(data) > self.cut_after:
            to.sendall(data[:self.cut_after])
            self.cut_after = None
            self.n_cuts += 1
            self.close(from_, to)
        else:
            to.sendall(data)

    def close(self, *pair):
        for s in pair:
            if s.fileno() >= 0:
                self.selector.unregister(s)
                s.close()
