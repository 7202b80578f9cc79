"""Draws four servers over four weeks, in the old mode and in ours: `python -m hanaming.simulation picture.svg`."""

from __future__ import annotations

import sys

from hanaming.simulation import simulate


def main() -> int:
    """Draws into the file that is named, and says what can be seen."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):  # noqa: PLR2004 - the program and the file
        print(__doc__, file=sys.stderr)
        return 2
    ours = simulate(samples=112)
    old = ours.again(dns_refresh="on_empty")
    import matplotlib as mpl  # noqa: PLC0415 - where it isn't installed, `plot` says so

    # The same file from the same figures: no date in it, no random names, and its text is text.
    with mpl.rc_context({"svg.hashsalt": "hanaming", "svg.fonttype": "none"}):
        old.plot(beside=ours).savefig(sys.argv[1], metadata={"Date": None} if sys.argv[1].endswith(".svg") else None)
    print(old, ours, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
