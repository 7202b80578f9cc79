"""The same with asyncio, by pytest-asyncio and by anyio."""

from __future__ import annotations

import asyncio

import pytest
from orders import price


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def goes_on(names, cluster):
    await names.bind("prices/tea", 3, create_parents=True)
    cluster[0].kill()
    assert await asyncio.gather(*(price(names, "tea") for _ in range(20))) == [3] * 20
    await names.aclose()


@pytest.mark.asyncio
async def test_with_pytest_asyncio(hanaming_aclient, hanaming_cluster):
    await goes_on(hanaming_aclient, hanaming_cluster)


@pytest.mark.anyio
async def test_with_anyio(hanaming_aclient, hanaming_cluster):
    await goes_on(hanaming_aclient, hanaming_cluster)


def test_on_a_loop_of_its_own(hanaming_aclient, hanaming_cluster):
    async def main():
        await goes_on(hanaming_aclient, hanaming_cluster)

    asyncio.run(main())
