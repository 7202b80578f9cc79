"""What a proxy does to all that passes it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum


class Loss(Enum):
    """What becomes of a response that does not arrive."""

    DROPPED = "dropped"
    """Nothing: its connection goes silent."""
    RESET = "reset"
    """Its connection is reset when the response begins."""


@dataclass(slots=True)
class Faults:
    """The faults of a proxy; as it stands here, none."""

    is_held: bool = False
    """Nothing passes; it waits, as a frozen server's input does."""
    delay: float = 0.0
    """Seconds by which each response is late."""
    rate: float | None = None
    """Bytes a second in each direction; `None` for no limit."""
    loss: Loss | None = None
    """What becomes of responses."""
    times: int | None = None
    """Of how many; `None` for all."""
    after: int = 0
    """How many exchanges of each connection are left alone."""

    def heal(self) -> None:
        """None from now on."""
        for field in fields(self):
            setattr(self, field.name, field.default)

    def take_loss(self, exchange: int) -> Loss | None:
        """What becomes of the response of a connection's `exchange`-th request, from 1 on."""
        if self.loss is None or exchange <= self.after:
            return None
        loss = self.loss
        if self.times is not None:
            self.times -= 1
            if self.times == 0:
                self.loss, self.times, self.after = None, None, 0
        return loss
