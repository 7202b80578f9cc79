"""A panic is an ordinary exception; a call inside a running loop warns; logging; what importing costs."""

from __future__ import annotations

import pytest

from hanaming import CompletionStatus, InternalError, NamingError, Node, _native, aio
from running import run


def test_a_panic_is_an_ordinary_exception(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InternalError, match="on purpose") as caught:
        _native._panic()
    assert isinstance(caught.value, NamingError)
    assert isinstance(caught.value, Exception)
    assert caught.value.completion is CompletionStatus.MAYBE
    capfd.readouterr()


@pytest.mark.asyncio
async def test_a_panic_within_an_event_of_the_loop_is_one_too(node: Node, capfd: pytest.CaptureFixture[str]) -> None:
    async with aio.HAContext(node.url) as ctx:
        await ctx.bind("a", 1)
        with pytest.raises(InternalError, match="on purpose"):
            _native._panic_on_loop(ctx)
        assert await ctx.lookup("a") == 1, "the context goes on"
    capfd.readouterr()


def test_a_call_inside_a_running_loop_warns_once(node: Node) -> None:
    node.local.bind("a", 1)
    done = run(
        """
    import asyncio, sys, warnings
    from hanaming import HAContext
    ctx = HAContext(sys.argv[1])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        ctx.lookup("a")
        assert not seen

        async def main():
            assert ctx.lookup("a") == 1
            assert ctx.lookup("a") == 1

        asyncio.run(main())
        asyncio.run(main())
    (warning,) = seen
    assert warning.category is RuntimeWarning
    assert "hanaming.aio" in str(warning.message)
    assert warning.filename == "<string>"
    """,
        node.url,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_no_warning_in_a_notebook(node: Node) -> None:
    node.local.bind("a", 1)
    done = run(
        """
    import asyncio, sys, types
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: object()
    sys.modules["IPython"] = ipython
    from hanaming import HAContext
    ctx = HAContext(sys.argv[1])

    async def main():
        assert ctx.lookup("a") == 1

    asyncio.run(main())
    """,
        node.url,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_log_is_off_until_it_is_enabled() -> None:
    done = run(
        """
    import logging
    logging.basicConfig(level=1)
    from hanaming import Node
    with Node("n1"):
        pass
    """
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_log_of_rust_threads_reaches_logging() -> None:
    done = run(
        """
    import logging, time
    records = []

    class Keep(logging.Handler):
        def emit(self, record):
            records.append(record)

    logging.getLogger("hanaming").addHandler(Keep())
    logging.getLogger("hanaming").setLevel(1)
    from hanaming import HAContext, Node, NamingError, log
    log.enable(logging.DEBUG)
    end = time.monotonic() + 10
    while not records and time.monotonic() < end:
        with Node("n1") as first, Node("n2", seeds=[first.address]) as second:
            second.quiesce(timeout=2)
    assert records
    assert all(record.name.startswith("hanaming.") for record in records), records
    assert all(record.thread != 0 for record in records)
    log.disable()
    """
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_importing_is_cheap() -> None:
    done = run(
        """
    import sys
    import hanaming
    heavy = {"asyncio", "dataclasses", "inspect", "click", "logging", "hanaming.records", "hanaming.html", "hanaming.aio"}
    assert not heavy & set(sys.modules), heavy & set(sys.modules)
    for name in hanaming.__all__:
        assert getattr(hanaming, name) is not None, name
    assert set(hanaming.__all__) <= set(dir(hanaming))
    hanaming.log.enable
    try:
        hanaming.nothing
    except AttributeError as error:
        assert "nothing" in str(error)
    """
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
