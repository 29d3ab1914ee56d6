"""Bytes and messages with something changed."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from typing import Any

INTEGERS = (0, 1, -1, 2, 7, 255, 2**31 - 1, -(2**31), 2**62, -(2**63))


def bytes_of(rng: random.Random, data: bytes) -> bytes:
    """`data` after a few changes: bits, cuts, copies, numbers of lengths that are not so."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        _change(rng, found)
    return bytes(found)


def _change(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + rng.choice((1, 2, 4, 8, 32)))
    way = rng.randrange(6)
    if way == 0 and at < len(data):
        data[at] ^= 1 << rng.randrange(8)
    elif way == 1:
        del data[at:]
    elif way == 2:
        del data[at:end]
    elif way == 3:
        data[at:at] = data[at:end]
    elif way == 4:
        data[at:end] = bytes(rng.choice((0, 0x7F, 0x80, 0xFF)) for _ in range(end - at))
    else:
        data[at:at] = rng.randbytes(rng.choice((1, 4, 16)))


# ---- plain values ------------------------------------------------------------------------------

VALUES = (None, -1, 0, 2**40, 1e30, "", "nobody", [], {}, [1], {"a": 1}, True, "relu", [None], 3.5)


def plain(rng: random.Random, value: Any) -> None:
    """Changes something somewhere in lists and dictionaries, in place."""
    while isinstance(value, dict | list) and value:
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        if not isinstance(value[key], dict | list) or not value[key] or rng.random() < 0.1:
            if rng.random() < 0.2:
                del value[key]
            else:
                value[key] = copy.deepcopy(rng.choice(VALUES))
            return
        value = value[key]


# ---- messages ----------------------------------------------------------------------------------


def message(rng: random.Random, value: Any) -> None:
    """Changes one field somewhere in a message, in place."""
    inner = [m for m in _messages(value) if m.ListFields()]
    target = rng.choice(inner)
    field, content = rng.choice(target.ListFields())
    if _is_map(field):
        _change_map(rng, content)
    elif _is_repeated(content):
        _change_list(rng, field, content)
    elif field.message_type is not None:
        target.ClearField(field.name)
    else:
        setattr(target, field.name, _other(rng, field, content))


def _is_repeated(content: Any) -> bool:
    return isinstance(content, Sequence) and not isinstance(content, str | bytes)


def _is_map(field: Any) -> bool:
    kind = field.message_type
    return kind is not None and kind.GetOptions().map_entry


def _messages(value: Any) -> list[Any]:
    found = [value]
    for field, content in value.ListFields():
        if _is_map(field):
            inner = list(content.values())
        elif field.message_type is None:
            continue
        else:
            inner = list(content) if _is_repeated(content) else [content]
        for each in inner:
            if hasattr(each, "ListFields"):
                found += _messages(each)
    return found


def _change_map(rng: random.Random, content: Any) -> None:
    first, second = rng.choice(list(content)), rng.choice(list(content))
    if first == second or not hasattr(content[first], "CopyFrom"):
        del content[first]
    else:
        content[first].CopyFrom(content[second])


def _change_list(rng: random.Random, field: Any, content: Any) -> None:
    at = rng.randrange(len(content))
    way = rng.randrange(3)
    if way == 0:
        del content[at]
    elif field.message_type is not None:
        content.add().CopyFrom(content[at])
    elif way == 1:
        content.append(content[at])
    else:
        content[at] = _other(rng, field, content[rng.randrange(len(content))])


def _other(rng: random.Random, field: Any, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if field.enum_type is not None:
        return rng.choice([v.number for v in field.enum_type.values])
    if isinstance(value, int):
        fitting = [n for n in INTEGERS if _fits(field, n)]
        return rng.choice(fitting)
    if isinstance(value, float):
        return rng.choice((0.0, -1.0, float("nan"), float("inf")))
    empty = value[:0]
    return rng.choice((empty, value + value, value[1:], value[:-1], value[::-1]))


def _fits(field: Any, number: int) -> bool:
    is_unsigned = field.type in (field.TYPE_UINT32, field.TYPE_UINT64, field.TYPE_FIXED32)
    is_short = field.type in (field.TYPE_INT32, field.TYPE_UINT32, field.TYPE_FIXED32)
    return (number >= 0 or not is_unsigned) and (abs(number) < 2**31 or not is_short)
