"""Writes pages with the HTML forms that a notebook shows: all in a light theme, all in a dark one, and some in both."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hanaming import Balancer, NamingError, classify, read_failures
from hanaming.jndi import Environment
from hanaming.records import OperationStatus
from hanaming.simulation import simulate
from hanaming.testing import Cluster

# As JupyterLab's two themes have them.
THEMES = {"light": "background:#fff;color:#212121", "dark": "background:#111;color:#e0e0e0"}
STYLE = "body{font:13px sans-serif;margin:1em 2em}h2{font-size:13px;opacity:.6;margin:2em 0 .5em}table{font-size:12px}"

# What the documents show.
CHOSEN = ["a node", "attempts: a killed node"]

LOG = """\
[11/28/26 2:15:34:002 CET] 0000004f NamingHelper  W   org.omg.CORBA.TRANSIENT: java.net.ConnectException: Connection refused:host=192.0.2.18,port=2809  vmcid: 0x4942f000  minor code: 3586  completed: No
[11/28/26 2:16:40:330 CET] 00000052 WLMClientRequ W   org.omg.CORBA.TRANSIENT: SIGNAL_RETRY  vmcid: 0x49421000  minor code: 42  completed: Maybe
[11/28/26 2:16:41:330 CET] 00000052 WLMClientRequ W   org.omg.CORBA.NO_IMPLEMENT: No Available Target  vmcid: 0x49421000  minor code: 42  completed: No
"""
PROPERTIES = "java.naming.provider.url=jnp://app1:1200,app2\njnp.partitionName=Orders\njnp.discoveryGroup=230.0.0.4\n"


def forms(folder: Path) -> list[tuple[str, Any]]:
    """Each form with what it is of, from a cluster that something happens to."""
    log = folder / "SystemOut.log"
    log.write_text(LOG, encoding="utf-8")
    taken: list[tuple[str, Any]] = []

    def take(what: str, thing: Any) -> None:
        taken.append((what, thing._repr_html_()))

    with Cluster(3) as cluster:
        names = cluster.client()
        for node in cluster[:2]:
            node.local.bind("services/orders", {"url": "http://10.0.0.5:8080"}, create_parents=True)
        names.bind("config/limits", {"rps": 100}, create_parents=True)
        take("a receipt", names.bind("price", 1))
        take("a node's status", names.status())
        take("a node", cluster[0].node)
        take("an HA context", names)
        take("a local context", cluster[0].local)
        take("a listing", names.list_bindings())
        take("a resolution", names.resolve("services/orders"))
        cluster.partition([0], [1, 2])
        cluster.wait_converged([0])
        cluster.wait_converged([1, 2])
        for node in cluster[:2]:
            node.node.context().rebind("price", f"from {node.name}")
        cluster.heal()
        cluster.wait_converged()
        take("a check report", names.check())
        cluster[1].pause()
        while len(names.explain()) < 2:
            names.lookup("price")
        take("attempts: a frozen node", names.explain())
        cluster[1].resume()
        cluster[2].kill()
        names.lookup("price")
        while len(names.explain()) < 2:
            names.lookup("price")
        take("attempts: a killed node", names.explain())
        take("targets", names.targets)
        take("a view", names.view)
        take("metrics", names.metrics)
    take("an operation's status", OperationStatus("unknown", None, None, ["n1", "n2"]))
    with Balancer(["127.0.0.1:9", "127.0.0.2:9"]) as balancer:
        take("a balancer", balancer)
    take("a verdict", classify("org.omg.CORBA.TRANSIENT: vmcid: 0x49421000 minor code: 40 completed: No"))
    take("a log report", read_failures(log))
    take("an environment", Environment.from_properties(PROPERTIES))
    take("a simulation", simulate(servers=4, weeks=1, clients=6, call_every=600))
    return taken


def main(folder: Path) -> None:
    """Writes the pages."""
    taken = forms(folder)
    both = ""
    for theme, colours in THEMES.items():
        body = "".join(f"<h2>{what}</h2>{form}" for what, form in taken)
        _write(folder / f"forms-{theme}.html", f"body{{{colours}}}", body)
        chosen = "".join(form for what in CHOSEN for name, form in taken if name == what)
        both += f'<div style="{colours};padding:1em 2em">{chosen}</div>'
    _write(folder / "forms-both.html", "body{margin:0}", both)


def _write(page: Path, style: str, body: str) -> None:
    page.write_text(f'<!doctype html><meta charset="utf-8"><style>{STYLE}{style}</style>{body}', encoding="utf-8")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except NamingError as error:
        sys.exit(str(error))
