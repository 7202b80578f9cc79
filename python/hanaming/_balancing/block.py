"""What the loops over a call's attempts, and their blocks, have in common in both balancers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hanaming._balancing.series import Series


class Loop:
    """The attempts of one call, without the protocol of iteration."""

    __slots__ = ("_series",)

    def __init__(self, series: Series) -> None:
        self._series = series


class Block:
    """One attempt, without the protocol of entering and leaving it."""

    __slots__ = ("_series", "number")

    number: int
    """Which attempt of the call it is, from 1."""

    def __init__(self, series: Series, number: int) -> None:
        self._series = series
        self.number = number

    @property
    def time_left(self) -> float:
        """The seconds that are left for this attempt and all further ones."""
        return self._series.calling.time_left

    def __repr__(self) -> str:
        return f"<attempt {self.number}>"
