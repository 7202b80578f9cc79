"""`hanaming serve`: one node in this process, until it is told to leave."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hanaming import Member, NamingError, Node, log

from . import errors, settings, streams
from .session import standalone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_POLL = 0.2
_log = logging.getLogger("hanaming.serve")


@standalone(
    examples="""
    hanaming serve
    hanaming serve --name n2 --listen 127.0.0.1:11101 --seed 127.0.0.1:11100
    hanaming serve --listen 0.0.0.0:11100 --advertise 10.0.0.5:11100 --insecure
    hanaming serve --listen 10.0.0.5:11100 --mdns --mdns-interface eth0 --insecure
    hanaming serve --config node.toml
    """
)
@click.option("--name", metavar="NAME", help="The node's name, unique in its cluster. Default: n1, or host and port.")
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help=f"Where to listen. Default: {settings.DEFAULT_LISTEN}; port 0 is any free one.",
)
@click.option(
    "--advertise", metavar="HOST:PORT", help="The address that others are told, where it isn't the one listened on."
)
@click.option("--seed", "seeds", metavar="HOST:PORT", multiple=True, help="A node of the cluster to join; repeatable.")
@click.option(
    "--cluster", metavar="NAME", help="The cluster's name; nodes of another one are refused. Default: default."
)
@click.option(
    "--data-dir",
    metavar="DIR",
    help="Keep the cluster tree in this folder, of this node alone. Default: in memory, gone with the last node.",
)
@click.option(
    "--resync-from-peers",
    is_flag=True,
    help="Set the data folder's data aside if it is damaged, and copy the cluster tree from the other nodes.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE.toml",
    help="Settings by the names of these flags (`seeds` is a list).",
)
@click.option(
    "--mdns", is_flag=True, help="Announce the node by multicast (DNS-SD): clients find it as hn+mdns://CLUSTER."
)
@click.option(
    "--mdns-interface",
    metavar="NAME",
    help="Announce it by this interface alone, by its name or address. Default: all.",
)
@click.option(
    "--insecure", is_flag=True, help="Listen beyond loopback although anybody who reaches the port can read and write."
)
@click.option("-v", "--verbose", is_flag=True, help="Log more, on standard error.")
@click.option("-q", "--quiet", is_flag=True, help="Log warnings only.")
def serve(config: Path | None, resync_from_peers: bool, verbose: bool, quiet: bool, **flags: Any) -> int:
    """Runs a node.

    It needs no arguments: alone it is a complete, useful server. It prints one line on standard output once it
    serves, and logs to standard error. SIGTERM, Ctrl-C and `hanaming quiesce` make it leave: it refuses what is
    new, finishes what runs, and exits with 0; a second signal ends it at once. Flags beat the file, the file beats
    the environment (HANAMING_NAME, HANAMING_LISTEN, HANAMING_ADVERTISE, HANAMING_SEEDS, HANAMING_CLUSTER,
    HANAMING_DATA_DIR, HANAMING_MDNS, HANAMING_MDNS_INTERFACE, HANAMING_INSECURE).
    """
    level = logging.DEBUG if verbose else logging.WARNING if quiet else logging.INFO
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=level)
    log.enable(level)
    stop = _StopSignal()
    try:
        chosen = settings.read(flags, config)
        for line in chosen.described():
            _log.info("%s", line)
        with stop.raising():
            node = Node(
                chosen.name,
                listen=chosen.listen,
                advertise=chosen.advertise,
                seeds=chosen.seeds,
                cluster=chosen.cluster,
                data_dir=chosen.data_dir,
                mdns=chosen.mdns,
                mdns_interface=chosen.mdns_interface,
                insecure=chosen.insecure,
                _sources=chosen.sources,
                _resync_from_peers=resync_from_peers,
            )
    except _StoppedError:
        _log.info("told to leave before it served")
        return errors.DONE
    except NamingError as error:
        streams.say(f"hanaming: {error}")
        return errors.exit_status(error, mutation=False)
    with node:
        if chosen.insecure:
            _log.warning("insecure: whoever reaches %s can read, bind and unbind; there is no TLS yet", node.address)
        _announce(node)
        _wait(node, stop)
        _log.info("leaving")
        try:
            node.quiesce()
        except NamingError as error:  # what runs did not end in time: it is cut off
            _log.warning("%s", error)
    _log.info("left")
    return errors.DONE


class _OneLine(logging.Formatter):
    """A record's message on one line: what other nodes are called must not steer the terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        return errors.printable(super().formatMessage(record))


def _announce(node: Node) -> None:
    """The line that says it serves. Whether anybody can read it is no matter for the node's clients."""
    try:
        click.echo(f"hanaming node {errors.printable(node.name)} ready on {node.address}")
    except OSError as error:
        streams.discard(sys.stdout)
        _log.warning("standard output can't be written (%s): serving %s all the same", error.strerror, node.address)


class _StoppedError(Exception):
    """The signal came while the node was starting."""


class _StopSignal:
    """Set by the first SIGTERM or SIGINT; the second one ends the process at once."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._raising = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._received)

    def _received(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self._event.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self._event.set()
        if self._raising:
            raise _StoppedError

    @contextlib.contextmanager
    def raising(self) -> Iterator[None]:
        """Within, the signal ends what runs: a node that looks for its seeds has nothing yet that it could finish."""
        self._raising = True
        try:
            if self._event.is_set():
                raise _StoppedError
            yield
        finally:
            self._raising = False

    def wait(self, seconds: float) -> bool:
        return self._event.wait(seconds)


def _wait(node: Node, stop: _StopSignal) -> None:
    """Returns when the node is to leave: by a signal, or because a client asked for it. Logs who comes and goes."""
    known: dict[str, Member] = {}
    while not stop.wait(_POLL):
        members = {member.name: member for member in node.view.members}
        for name in sorted(members.keys() | known.keys()):
            now, before = members.get(name), known.get(name)
            if now is None:
                _log.warning("%s is gone from the view", name)
            elif before is None or before.state != now.state or before.address != now.address:
                _log.info("%s at %s is %s", name, now.address, now.state)
        known = members
        own = members.get(node.name)
        if own is None or own.state == "quiescing":
            return
