"""Draws four servers over four weeks, in the old mode and in ours: `python -m hanaming.simulation picture.png`."""

from __future__ import annotations

import sys

from hanaming.simulation import simulate


def main() -> int:
    """Draws into the file that is named, and says what can be seen."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):  # noqa: PLR2004 - the program and the file
        print(__doc__, file=sys.stderr)
        return 2
    is_png = sys.argv[1].endswith(".png")
    ours = simulate(samples=112)
    old = ours.again(dns_refresh="on_empty")
    # The same file from the same figures: who drew it and when does not stand in it.
    old.plot(beside=ours).savefig(sys.argv[1], dpi=110, metadata={"Software": None} if is_png else None)
    print(old, ours, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
