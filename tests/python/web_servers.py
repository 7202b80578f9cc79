"""HTTP servers in processes of their own, to be killed and frozen."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from running import start

PROGRAM = """
    import http.server, sys

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            body = str(self.server.server_address[1]).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size = 128

    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
"""


class WebServer:
    """One of them; it answers with its port."""

    def __init__(self, port: int = 0) -> None:
        self._process: subprocess.Popen[str] = start(PROGRAM, str(port))
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        self.address = f"127.0.0.1:{self.port}"

    def kill(self) -> None:
        """SIGKILL, and gone."""
        self._process.kill()
        self._process.communicate()

    def freeze(self) -> None:
        """SIGSTOP."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        self._process.send_signal(signal.SIGCONT)


@contextmanager
def web_servers(count: int) -> Iterator[list[WebServer]]:
    """So many of them."""
    with ExitStack() as stack:
        servers = []
        for _ in range(count):
            server = WebServer()
            stack.callback(server.kill)
            servers.append(server)
        yield servers
