"""What `serve` runs with, and where each setting is from.

Flags beat the file, the file beats the environment, the environment beats the default. A key that is not known is
refused with the nearest one that is: a misspelt setting must not be a silent default.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hanaming import ConfigurationError
from hanaming._native import read_settings

from . import errors

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DEFAULT_LISTEN = "127.0.0.1:11100"

# Each setting: its variable, and its type.
_KEYS: dict[str, tuple[str, type]] = {
    "name": ("HANAMING_NAME", str),
    "listen": ("HANAMING_LISTEN", str),
    "advertise": ("HANAMING_ADVERTISE", str),
    "seeds": ("HANAMING_SEEDS", list),
    "cluster": ("HANAMING_CLUSTER", str),
    "data_dir": ("HANAMING_DATA_DIR", str),
    "mdns": ("HANAMING_MDNS", bool),
    "mdns_interface": ("HANAMING_MDNS_INTERFACE", str),
    "insecure": ("HANAMING_INSECURE", bool),
}


@dataclass
class Settings:
    """A node's settings. `sources` says for each where it is from."""

    name: str = ""
    listen: str = DEFAULT_LISTEN
    advertise: str | None = None
    seeds: list[str] = field(default_factory=list)
    cluster: str = "default"
    data_dir: str | None = None
    mdns: bool = False
    mdns_interface: str | None = None
    insecure: bool = False
    sources: dict[str, str] = field(default_factory=dict)

    def described(self) -> list[str]:
        """One line for each setting that has a value: what it is, and where from."""
        shown = {key: getattr(self, key) for key in _KEYS}
        return [
            f"{key} = {value!r} ({self.sources[key]})" for key, value in shown.items() if value not in (None, [], False)
        ]


def read(flags: Mapping[str, Any], config: Path | None, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings of all three sources. Flags that were not given are `None`, `()` or `False` and don't count."""
    settings = Settings(sources=dict.fromkeys(_KEYS, "default"))
    given = [
        ("environment", _from_environment(environment)),
        (str(config), _from_file(config) if config else {}),
        ("flag", {key: list(value) if key == "seeds" else value for key, value in flags.items() if _given(value)}),
    ]
    for source, some in given:
        for key, value in some.items():
            setattr(settings, key, value)
            settings.sources[key] = _KEYS[key][0] if source == "environment" else source
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str):
                    errors.text(text, f"{key} ({settings.sources[key]})")
    if settings.sources["name"] == "default":
        settings.name = default_name(settings.listen)
    return settings


def _given(flag: object) -> bool:
    # An empty string was given: it is refused, and never taken for the default.
    return flag is not None and flag is not False and flag != ()


def default_name(listen: str) -> str:
    """The name of a node that was given none.

    Names are unique in a cluster, so only the node that was started with no address of its own, on this machine
    alone, is plainly `n1`; others are called by host and port.
    """
    if listen == DEFAULT_LISTEN:
        return "n1"
    host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname().split(".")[0]) or "node"
    port = listen.rpartition(":")[2]
    # Any free port: which one is not known yet.
    return f"{host}-{port if port.isdigit() and port != '0' else secrets.token_hex(3)}"


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, (variable, kind) in _KEYS.items():
        text = environment.get(variable, "").strip()
        if not text:
            continue
        if kind is list:
            found[key] = [part.strip() for part in text.split(",") if part.strip()]
        elif kind is bool:
            if text.lower() not in ("1", "true", "yes", "0", "false", "no"):
                raise ConfigurationError(f"{variable}={text!r}: write true or false")
            found[key] = text.lower() in ("1", "true", "yes")
        else:
            found[key] = text
    return found


def _from_file(path: Path) -> Mapping[str, Any]:
    try:
        return read_settings(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}; give a TOML file that can be read") from None
    except UnicodeDecodeError as error:
        wrong = f"byte {error.object[error.start]:#04x} at {error.start} is no text in UTF-8"
        raise ConfigurationError(f"{path}: {wrong}; a TOML file is") from None
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None
