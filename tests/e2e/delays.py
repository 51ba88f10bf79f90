# SPDX-License-Identifier: Apache-2.0
"""What a busy machine adds to the time that something takes."""
import glob
import os
import threading
import time

PERIOD_SECONDS = 0.25


def waited_for_a_processor(pid):
    """Seconds in which threads of a process were ready to run and did not, all together."""
    waited_ns = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            with open(path, encoding="ascii") as f:
                waited_ns += int(f.read().split()[1])
        except (OSError, IndexError):
            pass    # a thread that has ended
    return waited_ns / 1e9


def taken_by_other_machines():
    """Seconds in which the host had something else to do."""
    with open("/proc/stat", encoding="ascii") as f:
        fields = f.readline().split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK") if len(fields) > 8 else 0.0


class Delays(threading.Thread):
    """Watches servers, and the test itself, while the block runs: no more of a time that was measured meanwhile is due to
    others on this machine."""

    def __init__(self, *servers):
        """servers: each has its `process`, which may become another one."""
        super().__init__(daemon=True)
        self.servers, self.over = servers, threading.Event()
        self.waited, self.late = {}, 0.0        # by process; of the test itself
        self.seen = [self.look()]

    def look(self):
        """(moment, seconds so far)"""
        for pid in [os.getpid(), *(s.process.pid for s in self.servers)]:
            self.waited[pid] = max(self.waited.get(pid, 0.0), waited_for_a_processor(pid))
        return time.monotonic(), sum(self.waited.values()) + taken_by_other_machines() + self.late

    def run(self):
        while not self.over.wait(PERIOD_SECONDS):
            self.late += max(0.0, time.monotonic() - self.seen[-1][0] - PERIOD_SECONDS)
            self.seen.append(self.look())

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()
        self.seen.append(self.look())

    def within(self, begin, end):
        """Seconds of delays between two moments of time.monotonic()."""
        before = next((total for moment, total in reversed(self.seen) if moment <= begin), self.seen[0][1])
        after = next((total for moment, total in self.seen if moment >= end), None)
        return (self.look()[1] if after is None else after) - before

    def is_prompt(self, begin, end, seconds):
        """Whether it took less than so many seconds, but for the delays."""
        return end - begin < seconds or end - begin < seconds + self.within(begin, end)
