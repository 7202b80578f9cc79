"""`hanaming explain`: one code, line, URL or file, as it is read."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hanaming import Category, ConfigurationError, classify
from hanaming._native import explain_minor
from hanaming.jndi import Environment, ProviderUrl

from . import errors, streams, tables, values
from .shape import ExamplesFirst

if TYPE_CHECKING:
    from hanaming import Verdict

_VENDORS = "OMG|SUN|IBM|WebSphere|Apache|Yoko|omniORB|JacORB|TAO"
_CODE = re.compile(
    rf"(?:({_VENDORS})\s+)?(-?\d{{1,10}}|0x[0-9a-f]{{1,8}}|[0-9a-f]{{8}}|(?<= )[0-9a-f]{{1,4}})", re.IGNORECASE
)
# As IBM's ORB prints it: E02, B01.
_IBM_CODE = re.compile(r"[A-F]\d[0-9A-F]")
_URL = re.compile(
    r"(?:corbaloc:|corbaname:|[a-z][a-z0-9+.-]*:/?/|//|[\w.-]+:\d+(?:,[\w.-]+(?::\d+)?)*$)", re.IGNORECASE
)
_SYMBOL = re.compile(r"[A-Z][A-Z_]*[A-Z]")
_SETTINGS = re.compile(r"\s*-D|[\w.-]+\s*[=:]\s*\S*")
_JNDI_KEY = re.compile(r"(?m)^\s*(?:-D)?(?:java\.naming|jnp|weblogic\.jndi|networkaddress|sun\.net\.inetaddr)\.")
_PATH = re.compile(r"\S*/\S*|[\w-][\w.-]*\.\w{1,10}")
_MOST = 1 << 20
_SHOWN = 60


_EXAMPLES = """
hanaming explain 0x49421040
hanaming explain 'org.omg.CORBA.COMM_FAILURE: vmcid: SUN minor code: 217 completed: Maybe'
hanaming explain t3://app1,app2:7001
hanaming explain jndi.properties
"""


class _Explain(ExamplesFirst):
    """Takes what is to be explained as it is, also where it starts like an option: `-Dkey=value`, `-1229066304`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, with such a one behind all options."""
        odd = [arg for arg in args if re.match(r"-(?:D|\d)", arg)]
        rest = [arg for arg in args if arg not in odd]
        return super().parse_args(ctx, [*rest, "--", *odd] if odd and "--" not in args else args)


@click.command(cls=_Explain, examples=_EXAMPLES)
@click.argument("what", metavar="CODE|LINE|URL|FILE")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
@click.option("-v", "--verbose", is_flag=True, help="Accepted as everywhere; everything is shown anyhow.")
@click.option("-q", "--quiet", is_flag=True, help="Accepted as everywhere.")
def explain(what: str, as_json: bool, verbose: bool, quiet: bool) -> int:  # noqa: ARG001 - options of every command
    """Says how something is read, what is odd about it, and what to do.

    \b
      CODE   a CORBA minor code ("SUN 201", 0x49421040, 1229066304, E02), with all its meanings by class
      LINE   an exception as a log shows it, a product's code (WFNAM00055), a symbol (ECONNRESET, UNAVAILABLE);
             "-" reads it from standard input
      URL    a provider URL of any naming system
      FILE   a properties file: what it means, and what has no effect; any other file is read as a log's excerpt
    """  # noqa: D301 - click's mark for lines that stay as they are
    try:
        document, lines = _explained(errors.text(what, "the argument"))
    except ConfigurationError as error:
        streams.say(f"hanaming: {error}")
        return errors.USAGE
    if as_json:
        click.echo(values.dumps(document, indent=2))
    else:
        for line in lines:
            click.echo(errors.printable(line))
    return errors.DONE


Explained = tuple[dict[str, Any], list[str]]


def _explained(what: str) -> Explained:
    if what == "-":
        return _text(_standard_input())
    path = Path(what)
    if _is_file(path):
        return _text(_content(path), path)
    stripped = what.strip()
    if explained := _of_code(stripped):
        return explained
    if _URL.match(stripped):
        return _url(stripped)
    if _SYMBOL.fullmatch(stripped) and (verdict := _of_symbol(stripped)):
        return _verdict(verdict)
    if _is_folder(path):
        raise ConfigurationError(f"{what} is a folder: `hanaming classify {what}` reads the logs in it")
    explained = _text(what)
    if explained[0].get("category") == Category.NOT_A_FAILURE.value:
        raise ConfigurationError(_not_known(stripped))
    return explained


def _not_known(what: str) -> str:
    """Words in which nothing was found are no failure in a log's excerpt. As an argument they are a mistake."""
    shown = tables.cut(errors.printable(what), _SHOWN)
    problem = f"{shown}: no such file" if _PATH.fullmatch(what) else f"'{shown}' is not known, and no file's name"
    return (
        f"{problem}. explain takes a minor code (0x49421040), an exception as a log shows it, a symbol (ECONNRESET), a "
        "provider URL, or a file that exists; hanaming explain --help has examples"
    )


def _text(text: str, path: Path | None = None) -> Explained:
    named = path is not None and path.suffix == ".properties"
    if named or _JNDI_KEY.search(text):
        return _environment(Environment.from_properties(path if named and path else text))
    verdict = classify(text)
    if verdict.category is Category.NOT_A_FAILURE and _SETTINGS.match(text) and "=" in text:
        return _environment(Environment.from_properties(text))
    return _verdict(verdict)


def _of_code(word: str) -> Explained | None:
    if _IBM_CODE.fullmatch(word):
        return _code(word, "IBM")
    code = _CODE.fullmatch(word)
    return _code(code[2], code[1]) if code else None


def _code(number: str, vendor: str | None) -> Explained | None:
    given = {"yoko": "Apache"}.get((vendor or "").lower(), vendor)
    read = explain_minor(number, given)
    if read is None:
        return None
    meanings = read["meanings"]
    head = f"minor code {read['minor']:#010x} ({read['minor']}): number {read['low']} ({read['low']:#x}) of {read['vendor']}"
    lines = [head]
    if meanings:
        lines.append("What it means depends on the class:")
        rows = [[m["class"], m["completion"], m["category"], m["detail"], m["why"]] for m in meanings]
        lines += tables.lines(["class", "ran?", "category", "detail", "why"], rows, width=None)
    else:
        lines.append("No class is known to use it: the exception's class and its completion status decide.")
    return {"kind": "code", **read}, lines


def _of_symbol(symbol: str) -> Verdict | None:
    """The verdict on a bare word: a gRPC status, an errno, a system exception's name."""
    readings: list[dict[str, str]] = [
        {"grpc_code": symbol},
        {"exception": "OSError", "code": symbol},
        {"exception": f"CORBA.{symbol}"},
    ]
    verdicts = map(classify, readings)
    return next((verdict for verdict in verdicts if verdict.detail != "unknown"), None)


def _verdict(verdict: Verdict) -> Explained:
    ran = verdict.completion.value if verdict.completion else "no failure"
    rows = [
        ("category", f"{verdict.category.value} ({verdict.detail})"),
        ("ran?", ran),
        ("do", verdict.action.value),
        ("if it may run twice", verdict.action_if_idempotent.value),
        ("why", verdict.reason),
        *([("by", verdict.evidence)] if verdict.evidence else []),
        ("sure", f"{verdict.confidence:.0%}"),
    ]
    lines = [f"{key:<20} {text}" for key, text in rows]
    return {"kind": "failure", **verdict.as_dict()}, [*lines, f"→ {verdict.advice}"]


def _url(text: str) -> Explained:
    return _url_document(ProviderUrl.parse(text)), _url_lines(ProviderUrl.parse(text), warnings=True)


def _url_document(url: ProviderUrl) -> dict[str, Any]:
    endpoints = [
        {"scheme": e.scheme, "host": e.host, "port": e.port, "version": e.version, "defaulted": e.defaulted}
        for e in url.endpoints
    ]
    return {"kind": "url", "scheme": url.scheme, "endpoints": endpoints, "path": url.path, "warnings": url.warnings}


def _url_lines(url: ProviderUrl, *, warnings: bool) -> list[str]:
    rows = [
        [
            e.scheme,
            e.host,
            "" if e.port is None else str(e.port),
            "default port" if e.defaulted else "",
            e.version or "",
        ]
        for e in url.endpoints
    ]
    columns = ["scheme", "host", "port", "", "version"]
    if not any(row[-1] for row in rows):  # CORBA's URLs alone have one
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    lines = tables.lines(columns, rows, width=None, right=(2,))
    if url.path:
        lines.append(f"name behind the addresses: {url.path}")
    return lines + (_warned(url.warnings) if warnings else [])


def _environment(read: Environment) -> Explained:
    url = read.provider_url
    options = read.options()
    lines = _url_lines(url, warnings=False) if url else ["no provider URL that could be used"]
    lines += [f"{key} = {value!r}" for key, value in options.items()]
    document = {
        "kind": "environment",
        "provider_url": _url_document(url) if url else None,
        "options": options,
        "warnings": read.warnings,
    }
    return document, lines + _warned(read.warnings)


def _warned(warnings: list[str]) -> list[str]:
    return [f"! {warning}" for warning in warnings]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a long line is no name
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _content(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST).decode(errors="surrogateescape")
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from None


def _standard_input() -> str:
    if sys.stdin is None:
        raise ConfigurationError("standard input is closed")
    return sys.stdin.buffer.read(_MOST).decode(errors="surrogateescape")
