"""Which call failed in a frame, where that is certain: whether a request had left depends on it.

A line of source holds many calls (`s.connect(a); s.send(b"1")`), and a comment none. From Python 3.11 on the failing
instruction has a position; before that only a line with one single call tells.
"""

from __future__ import annotations

import ast
import dis
import linecache
import sys
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import CodeType, TracebackType

__all__ = ["failing_call"]

# A program with more code in one file doesn't wait for it to be parsed.
_LONGEST_SOURCE = 20_000


def failing_call(entry: TracebackType) -> str | None:
    """The call at which a frame failed, without its arguments: `s.connect()`; `None` where that is in doubt."""
    code = entry.tb_frame.f_code
    lines = linecache.getlines(code.co_filename, entry.tb_frame.f_globals)
    if sys.version_info >= (3, 11):
        call = _at_position(code, entry.tb_lasti, lines)
    else:
        call = _alone_on_line(tuple(lines), entry.tb_lineno)
    return None if call is None else _shown(call.func)


if sys.version_info >= (3, 11):

    def _at_position(code: CodeType, at: int, lines: list[str]) -> ast.Call | None:
        """The call whose place in the source is the failing instruction's."""
        positions = list(code.co_positions())
        operations = [dis.opname[operation] for operation in code.co_code[::2]]
        index = at // 2
        where = positions[index]
        line, end_line, column, end_column = where
        if (
            line is None
            or end_line is None
            or column is None
            or end_column is None
            or not 0 < line <= end_line <= len(lines)
        ):
            return None
        # What leaves a `with` has the place of the call that entered it, and comes later.
        earlier = (op for op, place in zip(operations[:index], positions, strict=False) if place == where)
        if "CALL" not in operations[index] or any(op.startswith("CALL") for op in earlier):
            return None
        shown = [text.encode() for text in lines[line - 1 : end_line]]
        shown[-1] = shown[-1][:end_column]
        shown[0] = shown[0][column:]
        try:
            found = ast.parse(b"(" + b"".join(shown) + b")", mode="eval").body
        except (SyntaxError, ValueError):
            return None
        return found if isinstance(found, ast.Call) else None


@lru_cache(maxsize=64)
def _alone_on_line(lines: tuple[str, ...], number: int) -> ast.Call | None:
    """The only call of the statement that stands on a line, which is no `with`: leaving one is a call without a sign."""
    if not 0 < number <= len(lines) <= _LONGEST_SOURCE or "connect" not in lines[number - 1]:
        return None
    try:
        module = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return None
    touching = [
        node
        for node in ast.walk(module)
        if isinstance(node, (ast.stmt, ast.expr)) and node.lineno <= number <= (node.end_lineno or node.lineno)
    ]
    # Decorators and headers of a function or a class run elsewhere; of other blocks only their own line counts.
    statements = [node for node in touching if isinstance(node, ast.stmt) and node.lineno == number]
    simple = (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return)
    calls = [node for node in touching if isinstance(node, ast.Call)]
    if len(statements) != 1 or not isinstance(statements[0], simple) or len(calls) != 1:
        return None
    value = statements[0].value
    value = value.value if isinstance(value, ast.Await) else value
    return calls[0] if value is calls[0] else None


def _shown(function: ast.expr) -> str | None:
    name = ast.unparse(function)
    if all(part.isidentifier() for part in name.split(".")):
        return f"{name}()"
    # What a call returned, or a subscript: only the method's name counts.
    return f"_.{function.attr}()" if isinstance(function, ast.Attribute) else None
