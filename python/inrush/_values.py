"""Values on their way into text, and back into what a program had given."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import json
import math
import pathlib
import uuid
from collections.abc import Mapping
from typing import Any, Callable


_ADDRESSES = (
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
    ipaddress.IPv4Interface,
    ipaddress.IPv6Interface,
)


def _json(value: Any) -> Any:
    """What a value is in JSON that JSON has no form for."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    if isinstance(value, (datetime.date, datetime.time)):
        # pandas has a NaT that is a datetime, too.
        return None if str(value) == "NaT" else value.isoformat()
    if isinstance(value, datetime.timedelta):
        return iso_duration(value)
    if isinstance(value, (decimal.Decimal, uuid.UUID, pathlib.PurePath, *_ADDRESSES)):
        return str(value)
    if isinstance(value, (set, frozenset)):
        try:
            return sorted(value)
        except TypeError:
            raise TypeError("a set of values that have no order: make a list of it") from None
    if isinstance(value, Mapping):
        return dict(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    module, name = type(value).__module__.partition(".")[0], type(value).__name__
    if name in ("NAType", "NaTType"):
        return None
    if module == "numpy":
        if name == "timedelta64":
            return None if str(value) == "NaT" else iso_duration(value)
        if name == "datetime64":
            return None if str(value) == "NaT" else str(value)
        own = value.tolist()
        if type(own) is not type(value):
            return own
    raise TypeError(f"JSON has no form for values of {type(value).__module__}.{name}")


def dumps(value: Any) -> str:
    """JSON of a dict, a list or a tuple; what JSON has no form for is text in it."""
    options: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":"), "default": _json, "allow_nan": False}
    try:
        return json.dumps(value, **options)
    except ValueError as error:
        if "JSON compliant" not in str(error):
            raise
    return json.dumps(_with_words(value), **options)


def _with_words(value: Any) -> Any:
    """JSON has no number that is none: as in documents of Arrow's values, it is a text."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {name: _with_words(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_words(one) for one in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    return _with_words(_json(value))


#: Units of NumPy's durations, as powers of ten of a second.
_POWERS = {"s": 0, "ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15, "as": 18}
_SECONDS = {"W": 604_800, "D": 86_400, "h": 3_600, "m": 60}


def iso_duration(value: Any) -> str:
    """A `timedelta`, also one of pandas or NumPy, as ISO 8601 has durations: `PT93600.5S`, `PT-1S`."""
    if isinstance(value, datetime.timedelta):
        micros = (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds
        # pandas' are finer.
        count, power = micros * 1_000 + getattr(value, "nanoseconds", 0), 9
    else:
        unit, step = _unit(value.dtype.name)
        count = int(value.astype("int64")) * step
        if unit in _SECONDS:
            count, power = count * _SECONDS[unit], 0
        elif unit in _POWERS:
            power = _POWERS[unit]
        else:
            raise TypeError(f"a duration in '{unit or 'no unit'}' has no length")
    seconds, fraction = divmod(abs(count), 10**power)
    digits = f".{fraction:0{power}}".rstrip("0") if fraction else ""
    return f"PT{'-' if count < 0 else ''}{seconds}{digits}S"


def _unit(name: str) -> tuple[str, int]:
    """Of `timedelta64[25s]` the unit, and how many of it."""
    said = name.partition("[")[2].rstrip("]")
    unit = said.lstrip("0123456789")
    return unit, int(said[: len(said) - len(unit)] or 1)


_READ: dict[type, Callable[[str], Any]] = {
    bytes: lambda text: base64.b64decode(text),
    datetime.date: datetime.date.fromisoformat,
    datetime.datetime: lambda text: datetime.datetime.fromisoformat(text.replace("Z", "+00:00")),
    datetime.time: datetime.time.fromisoformat,
    decimal.Decimal: decimal.Decimal,
    datetime.timedelta: lambda text: _timedelta(text),
    uuid.UUID: uuid.UUID,
    **{address: address for address in _ADDRESSES},
}


def _timedelta(text: str) -> datetime.timedelta:
    """Of the text that `iso_duration` makes."""
    return datetime.timedelta(microseconds=int(decimal.Decimal(text[2:-1]) * 10**6))


def _like(value: Any, first: Any) -> Any:
    """A value that has gone through JSON, as the type that the column's first one has."""
    if isinstance(first, (dict, list, tuple)) and isinstance(value, str):
        return type(first)(json.loads(value))
    read = type(first) if isinstance(first, (enum.Enum, pathlib.PurePath)) else _READ.get(type(first))
    if value is None or read is None:
        return value
    try:
        return read(value if isinstance(value, str) or isinstance(first, enum.Enum) else str(value))
    except (ValueError, ArithmeticError, TypeError):
        return value


def as_given(raw: str, first: Any) -> Any:
    """A bad row as the program gave it. `raw` is its JSON, `first` another row of the same form."""
    try:
        row = json.loads(raw, parse_float=decimal.Decimal if _has_decimals(first) else float)
    except ValueError:
        return raw
    if not isinstance(row, dict):
        return row
    if isinstance(first, dict):
        return {name: _like(value, first.get(name)) for name, value in row.items()}
    if isinstance(first, (tuple, list)):
        values = [_like(value, one) for value, one in zip(row.values(), first)]
        if hasattr(first, "_fields"):
            return type(first)(*values)
        return type(first)(values)
    if dataclasses.is_dataclass(first) and not isinstance(first, type):
        try:
            return type(first)(**{name: _like(value, getattr(first, name, None)) for name, value in row.items()})
        except TypeError:
            # Of its fields some are not for its constructor.
            return row
    return row


def _has_decimals(first: Any) -> bool:
    values = first.values() if isinstance(first, dict) else first if isinstance(first, (tuple, list)) else ()
    return any(isinstance(value, decimal.Decimal) for value in values)
