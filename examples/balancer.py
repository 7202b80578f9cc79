"""Three HTTP servers that know nothing of hanaming, one of which goes: the calls go on, and say what they went through."""

import threading
import urllib.request
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from hanaming import Balancer, Target


class Orders(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"42 orders")

    def log_message(self, *_: Any) -> None:
        pass


def fetch(target: Target) -> str:
    with urllib.request.urlopen(f"http://{target}/orders", timeout=1) as reply:
        assert reply.read() == b"42 orders"
    return str(target)


servers = [ThreadingHTTPServer(("127.0.0.1", 0), Orders) for _ in range(3)]
for server in servers:
    threading.Thread(target=server.serve_forever, daemon=True).start()

with Balancer([f"127.0.0.1:{server.server_port}" for server in servers]) as orders:
    print("before:", dict(Counter(orders.idempotent.call(fetch) for _ in range(30))))
    servers[0].shutdown()
    servers[0].server_close()
    print("after: ", dict(Counter(orders.idempotent.call(fetch) for _ in range(30))))
    for target in orders.targets:
        print(" ", target, target.state)
