"""A thousand lookups under way at once on one connection per node."""

import asyncio
import time

from hanaming.aio import HAContext, Node


async def main() -> None:
    async with Node("n1") as node, HAContext(node.url) as ctx:
        await ctx.bind("orders", {"url": "http://10.0.0.5:8080"})
        began = time.perf_counter()
        answers = await asyncio.gather(*(ctx.lookup("orders") for _ in range(1000)))
        print(f"{len(answers)} lookups in {(time.perf_counter() - began) * 1000:.0f} ms")


asyncio.run(main())
