"""Runs the program as a person would: in a process of its own, with its own exit status and output."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

HANAMING = [sys.executable, "-m", "hanaming"]
# Generous: a loaded machine is no failure.
LIMIT = 120


def environment(**extra):
    # Unbuffered, CPython takes a short write to a broken pipe for a whole one.
    kept = {k: v for k, v in os.environ.items() if not k.startswith("HANAMING_") and k != "PYTHONUNBUFFERED"}
    return {**kept, "COLUMNS": "100", **extra}


@dataclass
class Outcome:
    status: int
    out: str
    err: str


def run(*args, stdin="", provider=None, env=None):
    """Runs one command to its end."""
    given = environment(**(env or {}))
    if provider:
        given["HANAMING_PROVIDER"] = provider
    done = subprocess.run(
        [*HANAMING, *args], input=stdin, capture_output=True, text=True, timeout=LIMIT, env=given, check=False
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


class Served:
    """One `hanaming serve`."""

    def __init__(self, *args, env=None, command=None):
        self.process = subprocess.Popen(
            command or [*HANAMING, "serve", *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(**(env or {})),
        )
        self.line = ""
        self.err = ""
        # Read as it comes: a full pipe would stop the node.
        self._reader = threading.Thread(target=self._drain, daemon=True)
        self._reader.start()

    def _drain(self):
        for line in self.process.stderr:
            self.err += line

    def ready(self):
        readable, _, _ = select.select([self.process.stdout], [], [], LIMIT)
        self.line = self.process.stdout.readline() if readable else ""
        assert " ready on " in self.line, f"not ready: {self.line!r}\n{self.err}"
        return self

    @property
    def address(self):
        return self.line.split()[-1]

    @property
    def url(self):
        return f"hn://{self.address}"

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        """Freezes it, and returns when all of its threads have stopped: the signal takes a moment to reach them."""
        self.process.send_signal(signal.SIGSTOP)
        _, status = os.waitpid(self.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)

    def wait(self):
        status = self.process.wait(LIMIT)
        self._reader.join(LIMIT)
        return status

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LIMIT)
        self._reader.join(LIMIT)
        self.process.stdout.close()
        self.process.stderr.close()


@contextlib.contextmanager
def serving(*args, env=None, listen="127.0.0.1:0"):
    served = Served(*(["--listen", listen] if listen else []), *args, env=env)
    try:
        yield served.ready()
    finally:
        served.end()


@contextlib.contextmanager
def cluster(count=3):
    with contextlib.ExitStack() as stack:
        nodes = []
        for number in range(1, count + 1):
            seeds = ["--seed", nodes[0].address] if nodes else []
            nodes.append(stack.enter_context(serving("--name", f"n{number}", *seeds)))
        yield nodes


@contextlib.contextmanager
def accepting(serve):
    """Takes connections, and has `serve` do with each what it likes. Gives the provider."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)

        def accept():
            with contextlib.ExitStack() as held:
                while not stop.is_set():
                    with contextlib.suppress(TimeoutError):
                        serve(held.enter_context(listener.accept()[0]))

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield f"hn://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            stop.set()
            thread.join(LIMIT)


def deaf_server():
    """Takes connections and never says anything."""
    return accepting(lambda connection: None)


def without_replies(address):
    """A way to a node on which its welcome comes and no reply does: the connection is closed instead."""
    host, _, port = address.rpartition(":")

    def serve(client):
        client.settimeout(LIMIT)
        with client, socket.create_connection((host, int(port)), LIMIT) as node:
            from_node = b""
            while True:
                for ready in select.select([client, node], [], [], LIMIT)[0]:
                    piece = ready.recv(65536)
                    if not piece:
                        return
                    if ready is client:
                        node.sendall(piece)
                        continue
                    # A frame is a header of 16 bytes, the first four its body's length, and the body.
                    before, from_node = from_node, from_node + piece
                    welcome = 16 + int.from_bytes(from_node[:4], "little")
                    client.sendall(from_node[len(before) : welcome])
                    if len(from_node) > welcome:
                        return

    return accepting(serve)


def closed_port():
    """A provider where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"hn://127.0.0.1:{listener.getsockname()[1]}"


def eventually(condition, limit=10.0):
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, "the condition did not come true"
        time.sleep(0.02)


def interrupt(process):
    process.send_signal(signal.SIGINT)
