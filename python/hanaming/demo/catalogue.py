"""The catalogue that the demo binds: which names in which node's local tree, and what a lookup of each must give.

Local trees end with their node. What is looked up while nodes are broken (`both`) is therefore bound in two of them,
as a service with two instances would be; the rest shows how a name is found that only one node has.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from hanaming import Context, LinkRef, Name
from hanaming.cli.values import decode


@dataclass(frozen=True)
class Catalogue:
    """Names and values: in both nodes' trees, in the first one's alone, in the second one's alone."""

    both: dict[str, Any]
    first: dict[str, Any]
    second: dict[str, Any]

    @classmethod
    def load(cls) -> Catalogue:
        """The one inside the package."""
        document = json.loads((files(__package__) / "catalogue.json").read_text(encoding="utf-8"))
        return cls(*({name: decode(value) for name, value in document[key].items()} for key in ("both", "n1", "n2")))

    @property
    def everything(self) -> dict[str, Any]:
        """All names, wherever they are bound."""
        return {**self.both, **self.first, **self.second}

    def bind(self, node: Context, own: dict[str, Any]) -> None:
        """Binds what belongs into one node's local tree: the common names and its own."""
        for name, value in {**self.both, **own}.items():
            node.rebind(name, value, create_parents=True)

    def is_answer(self, name: str, answer: Any) -> bool:
        """Whether `answer` is what a lookup of `name` must give."""
        names = self.everything
        target = followed(names, name)
        if target in names:
            return bool(answer == names[target])
        return isinstance(answer, Context) and any(other.startswith(f"{target}/") for other in names)


def followed(names: dict[str, Any], name: str) -> str:
    """The name behind all links of `name`.

    It is worked out from the catalogue alone: the demo checks the nodes' answers against this, not against another
    answer of theirs.
    """
    for _ in range(32):
        path = Name(name)
        at = next(
            (str(path[:i]) for i in range(1, len(path) + 1) if isinstance(names.get(str(path[:i])), LinkRef)), None
        )
        if at is None:
            return name
        target = names[at].target
        if target.startswith("./"):
            target = str(Name(at)[:-1] / target[2:])
        name = str(Name(target) / path[len(Name(at)) :])
    msg = f"{name} leads in a circle"
    raise ValueError(msg)
