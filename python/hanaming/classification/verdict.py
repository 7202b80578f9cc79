"""`Verdict`: what a failure means, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hanaming._show import table
from hanaming.failure import Action, Category, CompletionStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Verdict"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a failure means, and what to do about it."""

    category: Category
    """What kind of failure it was."""
    detail: str
    """A finer word: `connect_refused`, `tls_trust`, ..."""
    completion: CompletionStatus | None
    """Whether the call ran; `None` where there is no failure."""
    action: Action
    """What to do with a call that must not run twice, as far as is known."""
    action_if_idempotent: Action
    """What to do with one that may."""
    advice: str
    """What to do, in a sentence for a person."""
    reason: str
    """Why."""
    evidence: str
    """The line or field that decided."""
    confidence: float
    """How sure the rules are, from 0 to 1."""

    def __repr__(self) -> str:
        ran = "" if self.completion is None else f" {self.completion.value}"
        return f"<Verdict {self.category.value}/{self.detail}{ran}: {self.action.value}>"

    def _repr_html_(self) -> str:
        rows = [
            ("did it run?", self.completion.value if self.completion else "no failure"),
            ("do", self.action.value),
            ("if it may run twice", self.action_if_idempotent.value),
            ("why", self.reason),
            ("seen in", self.evidence),
            ("sure", f"{self.confidence:.0%}"),
        ]
        return table(f"{self.category.value}: {self.detail}", ("", ""), rows, self.advice)

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain data: enums as their values."""
        return {
            "category": self.category.value,
            "detail": self.detail,
            "completion": None if self.completion is None else self.completion.value,
            "action": self.action.value,
            "action_if_idempotent": self.action_if_idempotent.value,
            "advice": self.advice,
            "reason": self.reason,
            "evidence": self.evidence,
            "confidence": self.confidence,
        }


def from_native(fields: Mapping[str, Any]) -> Verdict:
    """The record of what the core decided."""
    completion = fields["completion"]
    return Verdict(
        Category(fields["category"]),
        fields["detail"],
        None if completion is None else CompletionStatus(completion),
        Action(fields["action"]),
        Action(fields["action_if_idempotent"]),
        fields["advice"],
        fields["reason"],
        fields["evidence"],
        fields["confidence"],
    )


def of_repeatable(verdict: Verdict) -> Verdict:
    """The same for a call that is known to do no harm when it runs twice."""
    return replace(verdict, action=verdict.action_if_idempotent)
