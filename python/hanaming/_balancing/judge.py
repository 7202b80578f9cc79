"""The verdict on what a block raised: that of a classifier of the user's own, else hanaming's."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from hanaming._arguments import function

if TYPE_CHECKING:
    from collections.abc import Callable

    from hanaming._native import Calling

_LONGEST = 200


class Judge:
    """The classifiers of one balancer, the latest first, and then `hanaming.classify`."""

    def __init__(self) -> None:
        self._classifiers: tuple[Callable[[BaseException], Any], ...] = ()

    def add(self, classifier: Callable[[BaseException], Any]) -> None:
        """Has `classifier` asked before all others."""
        self._classifiers = (function("fn", classifier), *self._classifiers)

    def tell(self, calling: Calling, error: Exception) -> str:
        """Tells what the failure means; gives what comes next: `"again"`, `"raise"` or `"success"`."""
        category, completion, action, action_if_idempotent = self._judge(error)
        return calling.failed(category, completion, action, action_if_idempotent, _words(error))

    def _judge(self, error: Exception) -> tuple[str, str | None, str, str]:
        for classifier in self._classifiers:
            verdict = _asked(classifier, error)
            if verdict is not None:
                return verdict
        from hanaming.classification.classifier import classify  # noqa: PLC0415 - who never fails never loads it
        from hanaming.classification.own import verdict_on_own  # noqa: PLC0415

        return _plain(verdict_on_own(error) or classify(error))


def _asked(classifier: Callable[[BaseException], Any], error: Exception) -> tuple[str, str | None, str, str] | None:
    try:
        verdict = classifier(error)
        return None if verdict is None else _plain(verdict)
    except Exception as wrong:  # noqa: BLE001 - whatever it raises, the failure that it was to judge must come out
        _report(classifier, error, wrong)
        return "unknown", "MAYBE", "surface", "surface"


def _plain(verdict: Any) -> tuple[str, str | None, str, str]:
    """A verdict's words; they may be members of their enumerations, or these members' values."""
    try:
        words = verdict.category, verdict.completion, verdict.action, verdict.action_if_idempotent
    except AttributeError:
        message = f"a classifier gives a Verdict or None, not {type(verdict).__qualname__}"
        raise TypeError(message) from None
    category, completion, action, action_if_idempotent = (getattr(word, "value", word) for word in words)
    _check("category", category)
    if completion is not None:
        _check("completion", completion)
    _check("action", action)
    _check("action_if_idempotent", action_if_idempotent)
    return category, completion, action, action_if_idempotent


def _check(field: str, word: object) -> None:
    from hanaming import failure  # noqa: PLC0415

    known = {
        "category": failure.Category,
        "completion": failure.CompletionStatus,
        "action": failure.Action,
        "action_if_idempotent": failure.Action,
    }[field]
    if word not in [member.value for member in known]:
        raise ValueError(f"a verdict's {field} is one of {known.__name__}'s values, not {word!r}")


def _report(classifier: Callable[..., Any], error: Exception, wrong: Exception) -> None:
    """A classifier that fails must not hide what it was to judge: that comes out, and this is said beside it."""
    name = getattr(classifier, "__qualname__", repr(classifier))
    said = f"the classifier {name} failed on {_words(error)!r} with {_words(wrong)!r}; the call was not sent again"
    if hasattr(error, "add_note"):
        error.add_note(said)
    warnings.warn(said, RuntimeWarning, stacklevel=2)


def _words(error: BaseException) -> str:
    """An exception in a line: its class and what it says."""
    cls = type(error)
    package = cls.__module__.partition(".")[0]
    name = cls.__qualname__ if package == "builtins" else f"{package}.{cls.__qualname__}"
    try:
        said = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - some other library's fault
        said = ""
    text = f"{name}: {said}" if said else name
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
