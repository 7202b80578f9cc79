"""Campaigns: clusters of real processes under long rows of faults. They run once, on one interpreter.

`HANAMING_CAMPAIGNS=long` (`make campaigns`) has them go on for as long as the promises are stated, `HANAMING_SEED=7`
begins at another seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from comparison import Comparison
from fleet import Fleet


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Callable[..., Fleet]]:
    """Makes a fleet, all of whose copies of the tree are compared as long as the test lasts."""
    with ExitStack() as stack:

        def make(count: int, *, data: bool = True) -> Fleet:
            made = stack.enter_context(Fleet.on_loopback(tmp_path, count, data=data))
            stack.enter_context(Comparison(made))
            return made

        yield make
