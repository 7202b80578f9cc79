"""How long campaigns go on, and from where."""

from __future__ import annotations

import os

FIRST_SEED = int(os.environ.get("HANAMING_SEED", "1"))


def rounds(usual: int, long: int) -> int:
    """So many rounds as a rule, and so many where there is time."""
    return long if os.environ.get("HANAMING_CAMPAIGNS") == "long" else usual
