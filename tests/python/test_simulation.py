"""`hanaming.simulation`: what it shows, how it is drawn, what it refuses, and that it can be interrupted."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from hanaming import ConfigurationError
from hanaming.simulation import Simulation, simulate
from running import start

HOUR = 1 / (7 * 24)
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None


def an_hour(**options: Any) -> Simulation:
    """Three servers are restarted after one another, 15 minutes apart."""
    given = {"servers": 4, "clients": 8, "restart_gap": 900.0, "call_every": 5.0, "samples": 12, **options}
    return simulate(weeks=HOUR, **given)


def test_the_old_mode_collapses_and_ours_does_not() -> None:
    ours = an_hour()
    old = ours.again(dns_refresh="on_empty")
    assert set(ours.final) == {"s1", "s2", "s3", "s4"}
    assert max(ours.final.values()) <= 1.5 * min(ours.final.values()), ours
    assert old.final == {"s1": 0, "s2": 0, "s3": 0, "s4": 1}
    assert old.worst == 1
    assert (old.failed, ours.failed) == (0, 0)
    assert old.metrics.refreshes == 8 < ours.metrics.refreshes
    assert json.dumps(an_hour().records) == json.dumps(ours.records), "the same seed, the same run"
    assert an_hour(seed=1).records != ours.records


def test_records_are_rows_of_a_table() -> None:
    result = an_hour(scaling=[(0.02, 5)], samples=30)
    assert len(result.records) == 30 * 5
    first = {key: value for key, value in result.records[0].items() if key not in ("calls", "share")}
    assert first == {
        "time": 0.0,
        "day": 0.0,
        "server": "s1",
        "up": True,
        "failed": 0,
        "dns_refresh": "ttl",
    }
    assert result.records[-1]["time"] == pytest.approx(29 * 120)
    for nth in range(30):
        rows = result.records[nth * 5 : nth * 5 + 5]
        assert sum(row["share"] for row in rows) == pytest.approx(1)
        assert rows[4]["up"] == (nth >= 14)
    assert sum(record["calls"] for record in result.records) == result.calls > 1000
    assert sum(result.contexts.values()) == 8


@pytest.mark.parametrize("policy", ["first_available", "first_available_identical_all_proxies", "least_loaded"])
@pytest.mark.parametrize("balancer", [False, True])
def test_any_policy_and_mode(policy: Any, balancer: bool) -> None:
    result = an_hour(policy=policy, balancer=balancer, contexts=2, dns_refresh=5.0, dns_failures=[(0.01, 300.0)])
    assert result.failed == 0
    assert result.metrics.failed_refreshes > 0
    assert result.most_moves <= result.metrics.moves


def test_how_it_looks() -> None:
    result = an_hour(dns_refresh="on_empty")
    assert repr(result).startswith("<Simulation 4 servers, 8 clients, dns_refresh='on_empty': at the end s1 0%, s2 0%,")
    assert repr(result).endswith(f"at worst 100% on one; 0 of {result.calls} calls failed>")
    html = result._repr_html_()
    assert "<table>" in html
    assert "dns_refresh=&#x27;on_empty&#x27;" in html
    assert len(html) < 3000


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"servers": 0}, "servers is 0: it can be from 1 to"),
        ({"servers": 5000}, "servers is 5000: it can be from 1 to 1000"),
        ({"clients": -3}, "clients is -3"),
        ({"clients": 400, "contexts": 400}, "clients times contexts is 160000"),
        ({"weeks": 0}, "weeks is 0: give a positive number"),
        ({"weeks": float("nan")}, "weeks is nan"),
        ({"weeks": 1e9}, "weeks"),
        ({"ttl": -1}, "ttl is -1: give a number, 0 or more"),
        ({"downtime": float("inf")}, "downtime is inf"),
        ({"policy": "round robin"}, 'policy="round robin" is unknown; there are round_robin, '),
        ({"dns_refresh": "sometimes"}, 'dns_refresh="sometimes" is unknown'),
        ({"dns_refresh": -1.0}, "dns_refresh is -1"),
        ({"scaling": [(1, 0)]}, "scaling: a number of servers is 0"),
        ({"scaling": [(400, 3)]}, "scaling: day 400 lies beyond the end"),
        ({"dns_failures": [(400, 3)]}, "dns_failures: day 400 lies beyond the end"),
        ({"dns_failures": [(1, 0)]}, "dns_failures: a duration is 0: give a positive number"),
        ({"samples": 0}, "samples is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"weeks": 10**400}, "weeks is larger than any float; give a smaller number"),
        ({"ttl": 10**400}, "ttl is larger than"),
        ({"scaling": [(10**400, 3)]}, "scaling: a day is larger than"),
        ({"weeks": 1e308}, "weeks"),
        ({"call_every": -0.0}, "call_every is -0"),
        ({"restarts_per_week": float("-inf")}, "restarts_per_week is -inf"),
        ({"servers": 10**5000}, "servers is a number of 16610 bits: it can be from 1 to"),
        ({"clients": -(10**5000)}, "clients is a number of 16610 bits"),
        ({"samples": 100_000, "servers": 1000}, "samples times servers is 100000000"),
    ],
    ids=lambda given: ",".join(given) if isinstance(given, dict) else "",
)
def test_values_that_cannot_be_meant(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        simulate(**options)
    assert says in str(refused.value)


@pytest.mark.parametrize("option", ["servers", "clients", "contexts", "samples", "scaling"])
def test_whatever_is_wrong_with_a_number_the_same_limits_are_told_and_hold(option: str) -> None:
    def told(number: int, **others: Any) -> str:
        given = {"scaling": [(1, number)]} if option == "scaling" else {option: number}
        with pytest.raises(ConfigurationError) as refused:
            simulate(**given, **others)
        return str(refused.value)

    most = int(told(0).rpartition(" to ")[2])
    for number in (0, -1, most + 1, 1_000_000, 1_000_001, 2**40):
        assert told(number).endswith(f"{number}: it can be from 1 to {most}")
    fewest = {"servers": 1, "clients": 1, "contexts": 1, "samples": 1}
    fewest.pop(option, None)
    # The next thing that is wrong is told, so the core takes the number.
    assert told(most, **fewest, dns_failures=[(400, 3)]).startswith("dns_failures: day 400")


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_what_may_be_nothing_says_so(value: float) -> None:
    for options in (
        {"ttl": value},
        {"restarts_per_week": value},
        {"scaling": [(value, 3)]},
        {"dns_failures": [(value, 3)]},
    ):
        with pytest.raises(ConfigurationError, match=f"is {value:g}: give a number, 0 or more$"):
            simulate(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"servers": 2.5}, "servers must be a whole number, not float"),
        ({"weeks": "4"}, "weeks must be a number, not str"),
        ({"clients": True}, "clients must be a whole number, not bool"),
        ({"policy": 1}, "policy must be a str, not int"),
        ({"dns_refresh": None}, "not NoneType"),
        ({"balancer": 1}, "balancer must be True or False, not int"),
        ({"scaling": 3}, "scaling must be a list of (day, servers), not int"),
        ({"dns_failures": [(1, 2, 3)]}, "dns_failures must be a list of (day, seconds), and has (1, 2, 3) in it"),
    ],
    ids=lambda given: str(given) if isinstance(given, dict) else "",
)
def test_what_is_of_another_type(options: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError) as refused:
        simulate(**options)
    assert says in str(refused.value)


@pytest.mark.parametrize("size", ["servers=50, clients=2000, weeks=400", "servers=1000, clients=10000"])
def test_ctrl_c_ends_it(size: str) -> None:
    program = f"""
        from hanaming.simulation import simulate
        try:
            print("begins", flush=True)
            simulate({size})
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    process = start(program)
    assert process.stdout is not None
    assert process.stdout.readline() == "begins\n"
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=30)
    assert said == "interrupted\n"
    assert time.monotonic() - asked < 20


@pytest.mark.skipif(HAS_MATPLOTLIB, reason="this is how it is without matplotlib")
def test_without_matplotlib_it_says_what_to_install() -> None:
    with pytest.raises(ImportError, match=r"pip install 'hanaming\[plot\]'.*\.records"):
        an_hour().plot()


@pytest.mark.skipif(not HAS_MATPLOTLIB, reason="matplotlib is not installed")
class TestPlot:
    def test_the_old_mode_stands_beside_ours(self) -> None:
        ours = an_hour()
        for figure in (ours.plot(), ours.again(dns_refresh="on_empty").plot()):
            titles = [field.get_title() for field in figure.axes]
            assert [title.split("\n")[0] for title in titles] == ["dns_refresh='on_empty'", "dns_refresh='ttl'"]
        assert len(ours.plot(beside=False).axes) == 1
        assert len(ours.plot(beside=an_hour(policy="least_loaded")).axes) == 2

    def test_it_is_drawn_and_shows_itself(self, tmp_path: Path) -> None:
        figure = an_hour().plot()
        figure.savefig(tmp_path / "picture.png")
        assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
        assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]


def drawn_by_command(*arguments: str | Path, without: str = "") -> subprocess.CompletedProcess[str]:
    """The command, in a Python that has no module of the name `without`, and whose simulation would be seen to begin."""
    program = f"""
        import runpy, sys
        import hanaming.simulation
        if {without!r}:
            sys.modules[{without!r}] = None
        def simulate(**options):
            raise AssertionError("it simulates")
        hanaming.simulation.simulate = simulate
        runpy.run_module("hanaming.simulation", run_name="__main__", alter_sys=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_the_command_says_how_it_is_called() -> None:
    for wrong in ([], ["a.png", "b.png"], ["--unknown"]):
        done = drawn_by_command(*wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert "picture.png" in done.stderr
    for asked in ("--help", "-h"):
        done = drawn_by_command(asked)
        assert (done.returncode, done.stderr) == (0, "")
        assert "picture.png" in done.stdout


def test_the_command_says_what_to_install_before_it_simulates(tmp_path: Path) -> None:
    done = drawn_by_command(tmp_path / "a.png", without="matplotlib")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert "pip install 'hanaming[plot]'" in done.stderr


@pytest.mark.skipif(not HAS_MATPLOTLIB, reason="matplotlib is not installed")
def test_the_command_refuses_a_file_before_it_simulates(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, says in (
        (tmp_path / "picture.xyz", "no picture is drawn as xyz; there are "),
        (tmp_path / "none" / "a.png", "No such file or directory"),
        (tmp_path / "file" / "a.png", "Not a directory"),
        (tmp_path, "Is a directory"),
    ):
        done = drawn_by_command(path)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
        assert done.stderr.startswith(f"hanaming.simulation: {path}: {says}"), done.stderr
    (tmp_path / "old.PNG").write_bytes(b"old")
    for good in ("old.PNG", "new.svg", "new"):
        assert "it simulates" in drawn_by_command(tmp_path / good).stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "old.PNG"]
    assert (tmp_path / "old.PNG").read_bytes() == b"old"
