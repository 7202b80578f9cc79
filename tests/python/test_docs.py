"""What the documents say is true: their Python runs, their commands exist, their links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from hanaming.cli import settings
from hanaming.cli.program import program

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)(?: title=\"[^\"]*\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language):
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            if match[1] == language:
                line = text[: match.start()].count("\n") + 2
                found.append(pytest.param(match[2], id=f"{page.relative_to(ROOT)}:{line}"))
    return found


def execute(command, **kwargs):
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HANAMING_")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=kept, **kwargs)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("code", blocks("python"))
def test_the_python_in_the_documents_runs(code, tmp_path):
    # In a folder of its own: it uses the installed package, as a reader would.
    assert execute([sys.executable, "-W", "error", "-c", code], cwd=tmp_path).stderr == ""


@pytest.mark.parametrize("code", [block for block in blocks("python") if "def test_" in block.values[0]])
def test_the_tests_in_the_documents_pass(code, tmp_path):
    file = tmp_path / "test_of_the_document.py"
    file.write_text(code, encoding="utf-8")
    passed = execute([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)], cwd=tmp_path)
    assert f"{code.count('def test_')} passed" in passed.stdout


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_the_examples_run(example, tmp_path):
    done = execute([sys.executable, "-W", "error", str(example)], cwd=tmp_path)
    assert done.stderr == ""
    assert done.stdout


def test_the_documents_have_examples():
    assert len(blocks("python")) >= 8


@pytest.mark.parametrize("text", blocks("console") + blocks("shell"))
def test_the_commands_in_the_documents_exist(text):
    lines = text.replace("\\\n", "").splitlines()
    # Beside what is typed a console shows what is printed.
    commands = [line[2:] for line in lines if line.startswith("$ ")] or lines
    for line in commands:
        for words in re.findall(r"\bhanaming (\w+)((?: --?[\w-]+)?)", re.sub(r"pip install hanaming", "", line)):
            assert words[0] in program.commands, line
        for flag in re.findall(r"(?<= )--[\w-]+", line):
            command = program.commands[line.partition("hanaming ")[2].split()[0]]
            known = {
                option
                for parameter in command.params
                if isinstance(parameter, click.Option)
                for option in parameter.opts
            }
            assert flag in known, line


def test_every_command_and_option_has_a_word_of_help():
    for name, command in program.commands.items():
        assert command.help, name
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{name} {parameter.opts}"


def test_every_command_is_documented():
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for name in program.commands:
        assert f"`{name}" in page, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_within_the_documents_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(#[^)]*)?\)", text):
        aim = (page.parent / target).resolve() if target else page
        assert aim.exists(), f"{page.name}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", aim.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor[1:] in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_example_configuration_is_read():
    read = settings.read({}, ROOT / "examples" / "node.toml", {})
    assert read.name == "n1"
