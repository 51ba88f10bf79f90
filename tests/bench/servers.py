# SPDX-License-Identifier: Apache-2.0
"""The two servers that are compared, and what the kernel says about their time."""
import os
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

START_SECONDS = 20.0
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")

# Both descriptors of the request have a limit of their own, far above what a run asks for.
RULES = """domain: edge_proxy
descriptors:
  - key: remote_address
    rate_limit: {unit: hour, requests_per_unit: 4000000000}
  - key: path
    value: /api/v1/users
    rate_limit: {unit: hour, requests_per_unit: 4000000000}
"""


def cpu_seconds(pid: int) -> float:
    """User and system time of all threads so far."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


class Server:
    """A running server. A line `grpc HOST:PORT` in its port file says where."""

    def __init__(self, words: list[str], folder: Path, port_file: Path, preload: str | None = None) -> None:
        env = {**os.environ, **({"LD_PRELOAD": preload} if preload else {})}
        self.log_file = folder / (Path(words[0]).name + ".log")
        port_file.unlink(missing_ok=True)
        # The echo prints its port, weir writes the file itself.
        out = port_file if words[0].endswith("echo_core") else self.log_file
        with self.log_file.open("w", encoding="utf-8") as log, out.open("a", encoding="utf-8") as stdout:
            self.process = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=stdout, stderr=log)
        self.address = self._address(port_file)

    def _address(self, port_file: Path) -> str:
        end, pause = time.monotonic() + START_SECONDS, threading.Event()
        while time.monotonic() < end and self.process.poll() is None:
            line = port_file.read_text(encoding="utf-8") if port_file.exists() else ""
            if line.startswith("grpc ") and line.endswith("\n"):
                return line.split()[1]
            pause.wait(0.02)
        self.stop()
        raise RuntimeError(f"{self.log_file.stem} did not say where it listens, status {self.process.returncode}:\n"
                           + self.log())

    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8", errors="replace")

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.process.pid)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(START_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()


def start_echo(programs: Path, folder: Path, workers: int) -> Server:
    return Server([str(programs / "echo_core"), str(workers)], folder, folder / "echo_ports")


def rules_folder(folder: Path) -> Path:
    return folder / "rules"


def start_weir(programs: Path, folder: Path, workers: int, preload: str | None = None, *,
               flags: Sequence[str] = (), rules: str = RULES) -> Server:
    files, ports = rules_folder(folder), folder / "ports"
    files.mkdir(exist_ok=True)
    (files / "edge_proxy.yaml").write_text(rules, encoding="utf-8")
    return Server([str(programs / "weir"), "--rules", str(files), "--grpc-listen", "127.0.0.1:0",
                   "--port-file", str(ports), "--workers", str(workers), *flags], folder, ports, preload)
