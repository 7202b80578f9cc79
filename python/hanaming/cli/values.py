"""Values on the command line: JSON, and a JSON form for what JSON lacks.

| value | written as |
|---|---|
| `bytes` | `{"$bytes": "aGk="}` (base64) |
| `LinkRef` | `{"$link": "services/orders"}` |
| `Reference` | `{"$reference": {"class_name": "DataSource", "addresses": [["url", "db:5432"]], "factory": "pool"}}` |
| a float that is no number | `{"$float": "nan"}`, `"inf"`, `"-inf"` |
| a subcontext (output only) | `{"$context": "services"}` |
| a dict whose only key starts with `$` | `{"$dict": {"$link": "…"}}` |

Reading is strict: a key given twice, or a `$` form that is none of these, is an error and never a guess.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from typing import Any

from hanaming import Context, LinkRef, Reference

_FORMS = ("$bytes", "$link", "$reference", "$float", "$dict")


class ValueSyntaxError(ValueError):
    """A text that is no value; the message says why and how to write it."""


def parse(text: str) -> Any:
    """The value that a JSON text stands for."""
    try:
        return decode(DECODER.decode(text))
    except json.JSONDecodeError as error:
        hint = (
            "" if not text.strip() or text.strip()[0] in '{["' else f"""; a string needs quotes: '{json.dumps(text)}'"""
        )
        raise ValueSyntaxError(f"not JSON: {error.msg} at character {error.pos + 1}{hint}") from None
    except RecursionError:
        raise ValueSyntaxError("the value is nested too deeply") from None


def decode(document: Any) -> Any:
    """Turns the `$` forms of a JSON document into what they stand for."""
    if isinstance(document, list):
        return [decode(item) for item in document]
    if not isinstance(document, dict):
        return document
    if len(document) == 1:
        ((form, content),) = document.items()
        if form.startswith("$"):
            return _decode_form(form, content)
    return {key: decode(item) for key, item in document.items()}


def encode(value: Any) -> Any:  # noqa: PLR0911 - one for each kind of value
    """The JSON document for a value, the inverse of `decode`."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": repr(value)}
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        document = {key: encode(item) for key, item in value.items()}
        return {"$dict": document} if len(document) == 1 and next(iter(document)).startswith("$") else document
    if isinstance(value, LinkRef):
        return {"$link": value.target}
    if isinstance(value, Reference):
        addresses = [[kind, encode(content)] for kind, content in value.addresses]
        return {"$reference": {"class_name": value.class_name, "addresses": addresses, "factory": value.factory}}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    # An object that a factory of this process made: there is no way back to data.
    return {"$object": repr(value)}


def document(name: str, value: Any) -> Any:
    """The JSON document for what is bound at a name: a value, or a context, which is told by its name."""
    return {"$context": name} if isinstance(value, Context) else encode(value)


def dumps(document: Any, *, indent: int | None = None) -> str:
    """JSON text that is safe on a terminal: whatever is not printable is escaped."""
    text = json.dumps(document, ensure_ascii=False, indent=indent, allow_nan=False)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def compact(name: str, value: Any) -> str:
    """What is bound at a name, on one line."""
    return dumps(document(name, value))


def _decode_form(form: str, content: Any) -> Any:
    if form == "$dict" and isinstance(content, dict):
        return {key: decode(item) for key, item in content.items()}
    if form == "$bytes" and isinstance(content, str):
        try:
            return base64.b64decode(content, validate=True)
        except binascii.Error as error:
            raise ValueSyntaxError(f"$bytes is not base64: {error}") from None
    if form == "$link" and isinstance(content, str):
        return LinkRef(content)
    if form == "$float" and content in ("nan", "inf", "-inf"):
        return float(content)
    if form == "$reference" and isinstance(content, dict):
        return _decode_reference(content)
    if form in _FORMS:
        raise ValueSyntaxError(f"{form} is not followed by what it needs; see `hanaming bind --help`")
    raise ValueSyntaxError(f'{form} is not one of {", ".join(_FORMS)}; a dict with that key is written {{"$dict": …}}')


def _decode_reference(content: dict[str, Any]) -> Reference:
    unknown = content.keys() - {"class_name", "addresses", "factory"}
    addresses = content.get("addresses", [])
    factory = content.get("factory")
    if unknown or not isinstance(content.get("class_name"), str) or not (factory is None or isinstance(factory, str)):
        raise ValueSyntaxError("$reference needs class_name and may have addresses and factory")
    pairs: list[tuple[str, str | bytes]] = []
    for pair in addresses if isinstance(addresses, list) else [None]:
        match pair:
            case [str() as kind, target] if isinstance(address := decode(target), (str, bytes)):
                pairs.append((kind, address))
            case _:
                raise ValueSyntaxError('addresses are pairs of strings, or a string and $bytes: [["url", "db:5432"]]')
    return Reference(content["class_name"], pairs, factory)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        twice = next(key for key in document if sum(key == other for other, _ in pairs) > 1)
        raise ValueSyntaxError(f"the key {json.dumps(twice)} stands twice in one object")
    return document


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueSyntaxError(f'{text} is more than a float holds; for infinity write {{"$float": "{value}"}}')
    return value


def _refuse_constant(text: str) -> Any:
    form = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}[text]
    raise ValueSyntaxError(f'{text} is no JSON; write {{"$float": "{form}"}}')


# JSON, strictly.
DECODER = json.JSONDecoder(object_pairs_hook=_distinct, parse_float=_finite, parse_constant=_refuse_constant)
