# SPDX-License-Identifier: Apache-2.0
"""Starts and stops the real server, and calls it by the official messages."""
import os
import re
import shutil
import signal
import subprocess
import threading
import time

import grpc
import oraclelib
from google.rpc import error_details_pb2, status_pb2

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build")
BIN = os.environ.get("WEIR_BIN_DIR", os.path.join(BUILD, "asan", "bin"))
METHOD = oraclelib.METHOD
SANITIZER_REPORT = re.compile(r"ERROR: \w+Sanitizer|runtime error:")
# Variables that the server takes as settings; a test's own come from the test alone.
SETTING = re.compile(r"(WEIR|GRPC|RUNTIME|LIMIT|REDIS|MERGE|SHADOW|QUOTA|RESPONSE|LOG|CONFIG|XDS)_")
# How long anything is waited for that should come at once: a busy machine is none that fails.
PATIENCE_SECONDS = 60


def binary(name):
    return os.path.join(BIN, name)


def wait_until(condition, what, seconds=PATIENCE_SECONDS):
    """The first true value of condition(), asked again and again until the deadline."""
    end, pause = time.monotonic() + seconds, threading.Event()
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        pause.wait(0.01)
    return value


def room_in_the_hour(seconds=60):
    """Waits for the next hour when this one ends within so many seconds: most rules here count by the hour."""
    wait_until(lambda: time.time() % 3600 < 3600 - seconds, "the next hour", seconds + PATIENCE_SECONDS)


# What a sanitizer ends a program with: none of the programs' own exit codes.
SANITIZER_EXIT = 99


def clean_environment(settings):
    env = {k: v for k, v in os.environ.items() if not SETTING.match(k)}
    for options in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        env[options] = f"{env.get(options, '')}:exitcode={SANITIZER_EXIT}".lstrip(":")
    env.update({k: str(v) for k, v in settings.items()})
    return env


def write_rules(folder, rules):
    """rules: the text of one file, or {name: text}."""
    os.makedirs(folder, exist_ok=True)
    for name, text in (rules if isinstance(rules, dict) else {"rules.yaml": rules}).items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(oraclelib.file_bytes(text))


def replace(folder, name, text):
    """A file written beside and renamed into place."""
    new = os.path.join(folder, ".new")
    with open(new, "wb") as f:
        f.write(oraclelib.file_bytes(text))
    os.rename(new, os.path.join(folder, name))


def swap_configmap(folder, version, files):
    """The way a kubelet refreshes a mounted ConfigMap: ..data is turned to a new directory, the old one goes."""
    data = os.path.join(folder, "..data")
    old = os.path.join(folder, os.readlink(data)) if os.path.islink(data) else None
    write_rules(os.path.join(folder, version), files)
    os.symlink(version, data + "_tmp")
    os.rename(data + "_tmp", data)
    for name in files:
        if not os.path.islink(os.path.join(folder, name)):
            os.symlink(os.path.join("..data", name), os.path.join(folder, name))
    if old:
        shutil.rmtree(old)


def run(*words, env=None, cwd=None, seconds=300, stdout=subprocess.PIPE):
    """Runs a program to its end -> CompletedProcess with text output, in which no sanitizer complains."""
    result = subprocess.run(words, env=clean_environment(env or {}), cwd=cwd, stdin=subprocess.DEVNULL,
                            stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=seconds, check=False)
    expect_no_report(result.returncode, (result.stdout or "") + result.stderr)
    return result


def expect_no_report(status, text):
    assert status != SANITIZER_EXIT, text
    assert not SANITIZER_REPORT.search(text), text


class Server:
    """One server process. Its folder holds the rules, the port file and what it wrote to stderr."""

    def __init__(self, program, folder):
        self.program, self.folder = program, str(folder)
        self.rules = os.path.join(self.folder, "rules")
        self.port_file = os.path.join(self.folder, "ports")
        self.log_file = os.path.join(self.folder, "stderr")
        self.process = None
        self.was_signalled = False
        self.callers = []

    def start(self, rules, *flags, env=None, listen="127.0.0.1:0", by_flags=True, descriptors=None, under=()):
        """Starts it and waits until it says where it listens. by_flags=False: only `flags` and `env` count.
        descriptors: how many files and sockets it may have open. under: words of a program that runs it."""
        write_rules(self.rules, rules)
        words = [self.program, "--port-file", self.port_file, *flags]
        if by_flags:
            words += ["--rules", self.rules, "--grpc-listen", listen]
        if descriptors is not None:
            words = ["prlimit", f"--nofile={descriptors}", *words]
        words = [*under, *words]
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(words, env=clean_environment(env or {}), cwd=self.folder,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(lambda: self.ports() or self.process.poll() is not None, "the server's port file")
        assert self.process.poll() is None, f"ended with {self.process.returncode} at start:\n{self.log()}"
        return self

    def ports(self):
        """{listener: address} of the port file, None while it is not whole."""
        try:
            with open(self.port_file, encoding="utf-8") as f:
                text = f.read()
        except FileNotFoundError:
            return None
        return dict(line.split(" ", 1) for line in text.splitlines()) if text.endswith("\n") else None

    @property
    def address(self):
        return self.ports()["grpc"]

    @property
    def port(self):
        return int(self.address.rpartition(":")[2])

    def log(self):
        with open(self.log_file, encoding="utf-8", errors="replace") as f:
            return f.read()

    def loads(self):
        """How often rules came into force."""
        return self.log().count("rules in force:")

    def caller(self, target=None):
        caller = Caller(target or self.address)
        self.callers.append(caller)
        return caller

    def signal_stop(self):
        """Once: a second SIGTERM ends the server at once, whatever it is at."""
        if not self.was_signalled and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.was_signalled = True

    def stop(self):
        """Ends it as an orchestrator does, and expects a clean exit."""
        for caller in self.callers:
            caller.close()
        if self.process is None:
            return
        self.signal_stop()
        try:
            status = self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"still there {PATIENCE_SECONDS} s after SIGTERM:\n{self.log()}") from None
        expect_no_report(status, self.log())
        assert status == 0, f"exit status {status}:\n{self.log()}"


class Caller:
    """One connection to a server."""

    def __init__(self, target):
        self.channel = grpc.insecure_channel(target, options=[
            ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0), ("grpc.enable_http_proxy", 0),
            ("grpc.max_receive_message_length", 64 << 20)])
        self.send = self.channel.unary_unary(METHOD)

    def close(self):
        self.channel.close()

    def call(self, domain, *desc, hits=0, timeout=PATIENCE_SECONDS):
        """The reply in the compact form of tests/vectors/FORMAT.md. desc: lists of [key, value], or maps."""
        request = oraclelib.build_request({"domain": domain, "desc": list(desc), "hits": hits})
        return self.raw(request.SerializeToString(), timeout=timeout)

    def peek(self, domain, *pairs):
        """A look that takes nothing."""
        return self.call(domain, {"entries": list(pairs), "hits": 0})

    def raw(self, data, timeout=PATIENCE_SECONDS):
        before = time.time()
        try:
            reply = self.send(data, timeout=timeout)
        except grpc.RpcError as e:
            return {"error": e.code().name}
        return oraclelib.compact_reply(oraclelib.rls_pb2.RateLimitResponse.FromString(reply), before, time.time())

    def future(self, domain, *desc, timeout=PATIENCE_SECONDS):
        request = oraclelib.build_request({"domain": domain, "desc": list(desc)})
        return self.send.future(request.SerializeToString(), timeout=timeout)

    def error(self, data, method=METHOD, timeout=PATIENCE_SECONDS):
        """-> (code, message, [field of BadRequest]) of a call that has to fail."""
        try:
            self.channel.unary_unary(method)(data, timeout=timeout)
        except grpc.RpcError as e:
            return e.code().name, e.details(), bad_fields(e)
        raise AssertionError("answered, an error was expected")


def bad_fields(error):
    fields = []
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                bad = error_details_pb2.BadRequest()
                assert detail.Unpack(bad)
                fields += [v.field for v in bad.field_violations]
    return fields


def same(want, got):
    """Asserts that a reply is as the short form says, e.g. 'OVER: OVER 0 of 5/HOUR'."""
    found = oraclelib.differences(want, got)
    assert not found, "\n".join(found)


def eventually(want, get, seconds=PATIENCE_SECONDS):
    """Waits until get() is as the short form says."""
    wait_until(lambda: not oraclelib.differences(want, get()), want, seconds)
