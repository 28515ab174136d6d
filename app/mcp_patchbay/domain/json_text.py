"""JSON as people read and write it: strict, exact, readable."""

from __future__ import annotations

import json
import math
from typing import Any

from mcp_patchbay.domain.messages import Message, message


class ValueTextError(ValueError):
    """A text that is no value: not JSON, or not of the kind that its field asks for. `text` says why."""

    def __init__(self, text: Message) -> None:
        super().__init__(str(text))
        self.text = text


def parse_json(text: str) -> Any:
    """Read JSON strictly: no NaN, no key twice. Integers of any size stay exact.

    Raises:
        ValueTextError: with line and column where there are some.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_number, parse_float=_finite)
    except ValueTextError:
        raise
    except json.JSONDecodeError as error:
        raise ValueTextError(message("form.json", line=error.lineno, column=error.colno, reason=error.msg)) from None
    except RecursionError:
        raise ValueTextError(message("form.json_too_deep")) from None
    except ValueError as error:  # an integer of more digits than Python reads
        raise ValueTextError(message("form.json_number", number=str(error))) from None


def json_text(value: Any, indent: int | None = None) -> str:
    """`value` as JSON text, readable, in its own order. What has no Unicode form is written escaped."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def same_json(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON, types included."""
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueTextError(message("form.json_key_twice", name=key))
        found[key] = value
    return found


def _no_number(word: str) -> Any:
    raise ValueTextError(message("form.json_number", number=word))


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueTextError(message("form.json_number", number=text))
    return number
