"""The pytest plugin, as a project of its own has it: found by its entry point, cheap, and telling of what failed."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from running import run


@pytest.fixture
def pytest_on(tmp_path):
    """Runs pytest on a file with these tests."""

    def run_on(tests, *options):
        (tmp_path / "test_it.py").write_text(textwrap.dedent(tests), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:asyncio", *options]
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=tmp_path,
            env={**kept, "COLUMNS": "200"},
        )
        return done.returncode, done.stdout + done.stderr

    return run_on


def test_the_plugin_imports_little_and_needs_no_pytest_to_be_left_alone():
    done = run(
        """
        import sys
        import hanaming.testing
        assert "pytest" not in sys.modules and "asyncio" not in sys.modules and "subprocess" not in sys.modules
        assert {"Cluster", "FaultProxy"} <= set(dir(hanaming.testing))
        try:
            hanaming.testing.Clutser
        except AttributeError as error:
            print(error)
        """
    )
    assert done.stdout.strip() == "module 'hanaming.testing' has no attribute 'Clutser'", done.stderr


def test_the_fixtures_and_the_marker_are_known(pytest_on):
    status, told = pytest_on("", "--fixtures", "--markers")
    assert status == 0
    assert "@pytest.mark.hanaming(nodes=3, data=False, processes=False)" in told
    status, told = pytest_on("", "--fixtures")
    for name in ("hanaming_cluster", "hanaming_client", "hanaming_aclient", "hanaming_dns", "fault_proxy"):
        assert f"{name} -- " in told


def test_markers_add_up_and_the_closest_counts(pytest_on):
    status, told = pytest_on(
        """
        import os
        import pytest

        pytestmark = pytest.mark.hanaming(nodes=2, data=True)

        @pytest.mark.hanaming(nodes=1)
        class TestIt:
            def test_class(self, hanaming_cluster):
                assert len(hanaming_cluster) == 1
                hanaming_cluster[0].node.context().bind("a", 1)
                hanaming_cluster[0].restart()
                assert hanaming_cluster.client().lookup("a") == 1

            @pytest.mark.hanaming(data=False)
            def test_function(self, hanaming_cluster):
                assert len(hanaming_cluster) == 1
                hanaming_cluster[0].node.context().bind("a", 1)
                hanaming_cluster[0].restart()
                assert hanaming_cluster.client().get("a") is None

        def test_module(hanaming_cluster):
            assert len(hanaming_cluster) == 2
        """,
        "--strict-markers",
    )
    assert (status, "3 passed" in told) == (0, True), told


@pytest.mark.parametrize("wrong", ["5", "knots=5"])
def test_a_marker_that_is_wrong_says_what_it_takes(pytest_on, wrong):
    status, told = pytest_on(
        f"""
        import pytest

        @pytest.mark.hanaming({wrong})
        def test_it(hanaming_cluster):
            pass
        """
    )
    assert status == 1
    assert "@pytest.mark.hanaming takes nodes=, data= and processes=, not: " + wrong.partition("=")[0] in told


def test_a_failing_test_shows_how_all_stood(pytest_on):
    status, told = pytest_on(
        """
        import asyncio, socket

        def test_it(hanaming_cluster, hanaming_client, hanaming_aclient, hanaming_dns, fault_proxy):
            hanaming_client.bind("a", 1)
            hanaming_client.lookup("a")

            async def main():
                async with hanaming_aclient as ctx:
                    await ctx.get("absent")

            asyncio.run(main())
            fault_proxy(hanaming_cluster[0]).delay(2)
            hanaming_dns.fail("servfail")
            hanaming_cluster[0].kill()
            hanaming_cluster.partition([1], [2])
            assert hanaming_client is None

        def test_other():
            assert False
        """
    )
    assert status == 1
    shown = [line.strip() for line in told.splitlines()]
    assert sum("hanaming: the cluster" in line for line in shown) == 1
    assert any(line.startswith("n0 at 127.0.0.1:") and line.endswith(": killed") for line in shown)
    assert any(line.startswith("n1 at 127.0.0.1:") and "live; sees" in line for line in shown)
    assert "n2 does not hear n1" in shown
    assert any(": found (answer, YES" in line for line in shown), "the sync client's last call"
    assert any(": no such name (answer, YES" in line for line in shown), "the asyncio client's last call"
    assert any("hanaming: a proxy" in line for line in shown)
    assert any(line.endswith(", 2 s late>") for line in shown)
    assert any(line.endswith(", servfail>") for line in shown)


def test_what_can_not_be_told_hides_no_failure(pytest_on):
    status, told = pytest_on(
        """
        def test_it(hanaming_cluster, monkeypatch):
            hanaming_cluster[0].state = "lost"
            hanaming_cluster._nodes[1] = None
            assert "my own failure" == ""
        """
    )
    assert status == 1
    assert "my own failure" in told
    assert "could not be told: " in told


def test_under_xdist(pytest_on):
    pytest.importorskip("xdist")
    status, told = pytest_on(
        """
        import pytest

        @pytest.mark.parametrize("number", range(6))
        def test_it(hanaming_client, number):
            hanaming_client.bind("number", number)
            assert hanaming_client.lookup("number") == number
            assert number != 3
        """,
        "-n",
        "2",
    )
    assert status == 1
    assert "5 passed" in told
    assert "hanaming: the cluster" in told
