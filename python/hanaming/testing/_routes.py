"""Which of a cluster's nodes hear each other."""

from __future__ import annotations


class Routes:
    """What relays ask: whether what one sends reaches another. Clients have no name, and are parted from nobody."""

    def __init__(self) -> None:
        self._paused: set[str] = set()
        self._cut: set[tuple[str, str]] = set()

    def pause(self, node: str, *, paused: bool) -> None:
        """Nothing reaches a node that is paused, and nothing comes from it."""
        (self._paused.add if paused else self._paused.discard)(node)

    def cut(self, senders: list[str], receivers: list[str]) -> None:
        """Nothing that these send reaches those."""
        self._cut.update((sender, receiver) for sender in senders for receiver in receivers if sender != receiver)

    def heal(self) -> None:
        """No node is cut off from another; a pause is not ended."""
        self._cut.clear()

    def passes(self, sender: str, receiver: str) -> bool:
        """Whether it does."""
        is_paused = sender in self._paused or receiver in self._paused
        return not is_paused and (sender, receiver) not in self._cut

    @property
    def cuts(self) -> list[tuple[str, str]]:
        """Who is not heard by whom, in order."""
        return sorted(self._cut)
