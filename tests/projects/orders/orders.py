"""A small program that has its places and prices from hanaming."""

from __future__ import annotations

from hanaming import HAContext, NameAlreadyBoundError, NamingError, aio


class Shop:
    """What is sold where, for how much."""

    def __init__(self, names: HAContext) -> None:
        self._names = names

    def price(self, article: str) -> int:
        found: int = self._names.lookup(f"prices/{article}")
        return found

    def offer(self, article: str, price: int) -> bool:
        """Offers an article once; whether it was us."""
        try:
            self._names.bind(f"prices/{article}", price, create_parents=True)
        except NameAlreadyBoundError:
            return False
        return True


async def price(names: aio.HAContext, article: str) -> int:
    found: int = await names.lookup(f"prices/{article}")
    return found


def is_safe_to_repeat(error: NamingError) -> bool:
    return error.safe_to_retry
