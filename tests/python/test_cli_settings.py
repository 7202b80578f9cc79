"""What `serve` runs with: which source wins, what is refused, and that each setting says where it is from."""

from __future__ import annotations

import sys

import pytest

from hanaming import ConfigurationError
from hanaming.cli import settings


@pytest.fixture
def config(tmp_path):
    def write(text):
        path = tmp_path / "node.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_nothing_given():
    read = settings.read({}, None, {})
    assert (read.name, read.listen, read.seeds, read.cluster, read.insecure) == (
        "n1",
        "127.0.0.1:11100",
        [],
        "default",
        False,
    )
    assert read.described() == [
        "name = 'n1' (default)",
        "listen = '127.0.0.1:11100' (default)",
        "cluster = 'default' (default)",
    ]


def test_flags_beat_the_file_beats_the_environment(config):
    path = config('name = "file"\nlisten = "127.0.0.1:2"\nseeds = ["a:1", "b:2"]\n')
    environment = {"HANAMING_NAME": "env", "HANAMING_LISTEN": "127.0.0.1:3", "HANAMING_CLUSTER": "blue"}
    read = settings.read({"name": "flag", "listen": None, "seeds": (), "insecure": False}, path, environment)
    assert (read.name, read.listen, read.cluster, read.seeds) == ("flag", "127.0.0.1:2", "blue", ["a:1", "b:2"])
    assert read.sources["name"] == "flag"
    assert read.sources["listen"] == str(path)
    assert read.sources["cluster"] == "HANAMING_CLUSTER"
    assert read.sources["insecure"] == "default"


def test_the_environment():
    read = settings.read({}, None, {"HANAMING_SEEDS": " a:1, b:2 ,", "HANAMING_INSECURE": "yes", "HANAMING_NAME": " "})
    assert (read.seeds, read.insecure, read.name) == (["a:1", "b:2"], True, "n1")
    with pytest.raises(ConfigurationError, match="HANAMING_INSECURE"):
        settings.read({}, None, {"HANAMING_INSECURE": "maybe"})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('sedes = ["a:1"]', "'sedes' is not a setting; did you mean 'seeds'?"),
        ("frobnicate = 1", "'frobnicate' is not a setting; known are name, listen"),
        ("name = 1", "'name' must be a string, not 1"),
        ('seeds = "a:1"', "'seeds' must be a list of strings"),
        ("seeds = [1]", "'seeds' must be a list of strings"),
        ('insecure = "yes"', "'insecure' must be true or false"),
        ("name = ", "not TOML"),
    ],
)
def test_a_wrong_file_says_what_and_where(config, text, says):
    path = config(text)
    with pytest.raises(ConfigurationError) as caught:
        settings.read({}, path, {})
    assert says in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="No such file"):
        settings.read({}, tmp_path / "absent.toml", {})


def test_without_a_toml_reader_the_remedy_is_named(config, monkeypatch):
    path = config("")
    monkeypatch.setattr(sys, "version_info", (3, 10, 0))
    monkeypatch.setitem(sys.modules, "tomli", None)
    with pytest.raises(ConfigurationError, match=r"Python 3\.11 or newer, or the package tomli"):
        settings.read({}, path, {})


def test_default_names_are_unique_and_are_one_component():
    assert settings.default_name("127.0.0.1:11100") == "n1"
    assert settings.default_name("127.0.0.1:11101").endswith("-11101")
    assert settings.default_name("127.0.0.1:0") != settings.default_name("127.0.0.1:0")
    for listen in ("[::1]:7", "0.0.0.0:0", "somewhere", ":"):
        assert "/" not in settings.default_name(listen)
