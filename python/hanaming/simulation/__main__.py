"""Draws four servers over four weeks, in the old mode and in ours: `python -m hanaming.simulation picture.png`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hanaming.simulation import simulate


def main() -> int:
    """Draws into the file that is named, and says what can be seen."""
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(__doc__)
        return 0
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):  # noqa: PLR2004 - the program and the file
        print(__doc__, file=sys.stderr)
        return 2
    path = Path(sys.argv[1])
    kind = path.suffix[1:].lower() or "png"
    problem = _without_matplotlib() or _unknown(path, kind) or _unwritable(path)
    if problem is not None:
        return _refused(problem)
    ours = simulate(samples=112)
    old = ours.again(dns_refresh="on_empty")
    try:
        # The same file from the same figures: who drew it and when does not stand in it.
        metadata = {"Software": None} if kind == "png" else None
        old.plot(beside=ours).savefig(path, format=kind, dpi=110, metadata=metadata)
    except OSError as error:
        return _refused(f"{path}: {error.strerror or error}")
    print(old, ours, sep="\n")
    return 0


def _refused(problem: str) -> int:
    print(f"hanaming.simulation: {problem}", file=sys.stderr)
    return 2


def _without_matplotlib() -> str | None:
    try:
        import matplotlib.figure  # noqa: F401, PLC0415 - an extra
    except ModuleNotFoundError as error:
        return f"the picture is drawn with matplotlib ({error}): pip install 'hanaming[plot]'"
    return None


def _unknown(path: Path, kind: str) -> str | None:
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, which is known to be there by now

    known = Figure().canvas.get_supported_filetypes()
    return None if kind in known else f"{path}: no picture is drawn as {kind}; there are {', '.join(sorted(known))}"


def _unwritable(path: Path) -> str | None:
    """What opening it says: permissions alone tell less. What stands there stays until the picture is drawn."""
    try:
        # A link that leads nowhere is there, too, and no file of ours to be taken away again.
        is_new = not os.path.lexists(path)
        path.open("ab").close()
        if is_new:
            path.unlink()
    except OSError as error:
        return f"{path}: {error.strerror or error}"
    return None


if __name__ == "__main__":
    sys.exit(main())
