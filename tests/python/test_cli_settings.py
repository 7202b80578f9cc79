"""What `serve` runs with: which source wins, what is refused, and that each setting says where it is from."""

from __future__ import annotations

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
        ('name = "x"\n  sedes = ["a:1"]', "line 2, column 3: 'sedes' is not a setting; did you mean 'seeds'?"),
        ("frobnicate = 1", "'frobnicate' is not a setting; known are name, listen"),
        ("[node]\nname = 'x'", "'node' is not a setting"),
        ("name = 1", "line 1, column 8: 'name' must be a string, not 1"),
        ('seeds = "a:1"', "'seeds' must be a list of strings"),
        ("seeds = [1]", "'seeds' must be a list of strings"),
        ('insecure = "yes"', "'insecure' must be true or false"),
        ("insecure = [true]", "'insecure' must be true or false, not [true]"),
        ("listen = 1979-05-27", "'listen' must be a string, not 1979-05-27"),
        ("name = ", "line 1, column 8: not TOML: "),
        ("name = 'a'\nname = 'b'", "line 2, column 1: not TOML: "),
    ],
)
def test_a_wrong_file_says_what_and_where(config, text, says):
    path = config(text)
    with pytest.raises(ConfigurationError) as caught:
        settings.read({}, path, {})
    assert says in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "node.toml"
    path.write_bytes(b"name = '\xff'")
    with pytest.raises(ConfigurationError, match="byte 0xff at 8 is no text in UTF-8") as caught:
        settings.read({}, path, {})
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="No such file or directory; give a TOML file"):
        settings.read({}, tmp_path / "absent.toml", {})


def test_every_setting_can_be_in_the_file(config):
    path = config(
        "\ufeff# all of them\nname = 'n2'\nlisten = 'h:1'\nadvertise = 'h:2'\nseeds = []\ncluster = 'c'\n"
        "data_dir = '/d'\nmdns = true\nmdns_interface = 'lo'\ninsecure = true\n"
    )
    read = settings.read({}, path, {})
    assert read.sources == dict.fromkeys(settings._KEYS, str(path))
    assert (read.name, read.advertise, read.seeds, read.insecure) == ("n2", "h:2", [], True)
    assert (read.mdns, read.mdns_interface) == (True, "lo")


def test_default_names_are_unique_and_are_one_component():
    assert settings.default_name("127.0.0.1:11100") == "n1"
    assert settings.default_name("127.0.0.1:11101").endswith("-11101")
    assert settings.default_name("127.0.0.1:0") != settings.default_name("127.0.0.1:0")
    for listen in ("[::1]:7", "0.0.0.0:0", "somewhere", ":"):
        assert "/" not in settings.default_name(listen)
