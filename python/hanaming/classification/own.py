"""Exceptions of a program's own, raised while something else was being handled.

`classify` reads such a one as what was handled, as it does a trace in a log: it may be but another name for that. A balancer
must not: the program may have gone on, and says what came of it. Whoever means the name says so, with `raise X from error`.
"""

from __future__ import annotations

from hanaming._native import classify_chain
from hanaming.classification.thrown import chain_of
from hanaming.classification.verdict import Verdict, from_native
from hanaming.failure import Category

__all__ = ["verdict_on_own"]


def verdict_on_own(error: BaseException) -> Verdict | None:
    """The verdict on what no rule knows, raised while something else was handled: without that. `None` for all others."""
    thrown, _ = chain_of(error)
    handled = next((at for at, one in enumerate(thrown) if one["link"] == "context"), None)
    if handled is None:
        return None
    verdict = from_native(classify_chain(thrown[:handled]))
    return verdict if verdict.category is Category.UNKNOWN else None
