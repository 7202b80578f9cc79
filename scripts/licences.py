"""Fails where a dependency's licence is not one that the project may be shipped with.

Reads `cargo metadata` for the Rust side (everything in Cargo.lock, tools of the tests too) and the pinned runtime
requirements for the Python side.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

ACCEPTED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}
# Weaker copyleft is looked at one by one: file-level, used unmodified.
ACCEPTED_FOR = {"MPL-2.0": {"foca"}, "MPL-2.0+": {"imbl", "imbl-sized-chunks"}}
# Everything that `pip install hanaming` brings.
PYTHON_RUNTIME = {"click": "BSD-3-Clause"}


def accepted(expression: str, package: str) -> bool:
    """Whether an SPDX expression can be met with accepted licences: `OR` needs one side, `AND` both."""
    words: list[str] = re.findall(r"\(|\)|[^\s()/]+|/", expression)
    position = 0

    def peek() -> str | None:
        return words[position] if position < len(words) else None

    def take() -> str:
        nonlocal position
        position += 1
        return words[position - 1]

    def either() -> bool:
        verdict = both()
        while peek() in ("OR", "/"):
            take()
            other = both()
            verdict = verdict or other
        return verdict

    def both() -> bool:
        verdict = one()
        while peek() == "AND":
            take()
            other = one()
            verdict = verdict and other
        return verdict

    def one() -> bool:
        word = take()
        if word == "(":
            verdict = either()
            take()
            return verdict
        if peek() == "WITH":
            take()
            word = f"{word} WITH {take()}"
        return word in ACCEPTED or package in ACCEPTED_FOR.get(word, ())

    verdict = either()
    return verdict and position == len(words)


def rust_problems() -> tuple[int, list[str]]:
    """How many Rust packages there are, and what is wrong with which."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--all-features"]
    packages = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)["packages"]
    problems = [
        f"{package['name']} {package['version']}: {package['license'] or 'no licence stated'}"
        for package in packages
        if not (package["license"] and accepted(package["license"], package["name"]))
    ]
    return len(packages), problems


def python_problems() -> tuple[int, list[str]]:
    """The same for the runtime requirements of the wheel."""
    lines = (ROOT / "scripts" / "requirements-runtime.txt").read_text(encoding="utf-8").splitlines()
    names = [re.split(r"[=<>;\s]", line)[0] for line in lines if line and not line.startswith("#")]
    problems = [f"{name}: not in the list of runtime dependencies" for name in names if name not in PYTHON_RUNTIME]
    return len(names), problems


def main() -> int:
    """Prints the problems; the exit status."""
    rust, problems = rust_problems()
    python, more = python_problems()
    problems += more
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"{rust} Rust and {python} Python packages, all under accepted licences")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
