"""Values on their way into text, and back into what a program had given."""

from __future__ import annotations

import base64
import collections
import copy
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import json
import math
import pathlib
import uuid
from collections.abc import Collection, Mapping
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
    own = _form(value)
    _refuse_twins(own)
    return own


def _form(value: Any) -> Any:
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
        return _in_order(value)
    if isinstance(value, (range, collections.deque)):
        return list(value)
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
        own = of_numpy(value)
        if type(own) is not type(value):
            return own
    advice = ": its model_dump() is a dict" if hasattr(value, "model_dump") else ": make a list of it" if hasattr(value, "__iter__") else ""
    raise TypeError(f"JSON has no form for values of {type(value).__module__}.{name}{advice}")


def _in_order(values: Collection[Any]) -> list[Any]:
    """The values of a set in the only order that they have."""
    try:
        own = sorted(values)
        # Sets within, of which neither may be part of the other, and NaN are sorted into any.
        is_order = all(one < other for one, other in zip(own, own[1:]))
    except TypeError:
        is_order = False
    if not is_order:
        raise TypeError("a set of values that have no order: make a list of it")
    return own


def of_numpy(value: Any) -> Any:
    """A value of NumPy as Python's own; moments and durations within stay NumPy's, for Python's own would be plain numbers."""
    dtype = value.dtype
    if dtype.names and not value.ndim:
        return [value[name] for name in dtype.names]
    if dtype.names or dtype.kind in "mM":
        return [*value] if value.ndim else value[()]
    return value.tolist()


def is_frame(row: Any) -> bool:
    """Whether what should be a row has rows of its own."""
    if any(kind.__module__.partition(".")[0] == "pandas" for kind in type(row).__mro__):
        # A Series may well be a row.
        return hasattr(row, "columns")
    return not isinstance(row, type) and (hasattr(row, "__arrow_c_stream__") or hasattr(row, "__arrow_c_array__"))


_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_json, allow_nan=False)


def dumps(value: Any) -> str:
    """JSON of a dict, a list or a tuple; what JSON has no form for is text in it.

    A TypeError or a ValueError where a value has no such form.
    """
    try:
        text = _encoded(value)
        if "{" in text:
            _refuse_twins(value)
        return text
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _encoded(value: Any) -> str:
    try:
        return _JSON.encode(value)
    except ValueError as error:
        if "JSON compliant" not in str(error):
            raise
    return _JSON.encode(_with_words(value))


#: What most documents are made of, and what needs no look into it.
_FLAT = frozenset((str, int, float, bool, type(None)))


def _refuse_twins(value: Any) -> None:
    """A name would be there twice in JSON where a dict has it as a text and as a number: a ValueError."""
    if isinstance(value, dict):
        for name in value:
            if type(name) is not str and not isinstance(name, str) and _name(name) in value:
                raise ValueError(f"a dict has both {name!r} and '{_name(name)}', which are one name in JSON")
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return
    for one in value:
        if type(one) not in _FLAT:
            _refuse_twins(one)


def _name(key: Any) -> str:
    """The name that JSON makes of a dict's key that is no text."""
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, int):
        return int.__repr__(key)
    # Any other is refused by JSON itself.
    return float.__repr__(key) if isinstance(key, float) else ""


def _with_words(value: Any) -> Any:
    """JSON has no number that is none: as in documents of Arrow's values, it is a text."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {name: _with_words(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_words(one) for one in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    return _with_words(_json(value))


def fields_of(row: Any) -> tuple[list[str], bool] | None:
    """The names of an object's fields, and whether these are its own rather than its class's; None where it has none."""
    kind = type(row)
    if isinstance(row, type):
        return None
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)], False
    if hasattr(kind, "model_fields"):
        # A dict where a model takes fields that its class has not.
        extra = getattr(row, "__pydantic_extra__", None)
        return [*kind.model_fields, *(extra or {})], isinstance(extra, dict)
    if hasattr(kind, "__attrs_attrs__"):
        return [field.name for field in kind.__attrs_attrs__], False
    own = getattr(row, "__dict__", None)
    # A class has the slots of those that it is made of, too.
    names = [name for base in reversed(kind.__mro__) for name in _slots(base)]
    if isinstance(own, dict):
        names += own
    return (list(dict.fromkeys(names)), isinstance(own, dict)) if names else None


def _slots(base: type) -> list[str]:
    said = base.__dict__.get("__slots__", ())
    names = [said] if isinstance(said, str) else list(said)
    # As Python mangles the names of a class's own.
    own = base.__name__.lstrip("_")
    hidden = [f"_{own}{name}" if name.startswith("__") and not name.endswith("__") else name for name in names]
    return [name for name in hidden if name not in ("__dict__", "__weakref__")]


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
    """A value that has gone through JSON, as the type that the column's first one has; as it is where it can't be one."""
    if value is None:
        return None
    if isinstance(first, float) and isinstance(value, decimal.Decimal):
        return float(value)
    try:
        if isinstance(first, (Mapping, list, tuple)):
            # Of numbers within a document nothing says that they are decimals.
            text = value if isinstance(value, str) else json.dumps(value, default=float)
            return _nested(json.loads(text), first)
        if isinstance(value, str) and type(first) in (int, float, bool):
            # A column of several kinds holds their texts: a number's own is a number.
            own = json.loads(value)
            return own if type(own) in (int, float, bool) and str(own).lower() == value else value
        read = type(first) if isinstance(first, (enum.Enum, pathlib.PurePath)) else _READ.get(type(first))
        if read is None:
            return value
        return read(value if isinstance(value, str) or isinstance(first, enum.Enum) else str(value))
    except (ValueError, ArithmeticError, TypeError):
        return value


def _nested(value: Any, first: Any) -> Any:
    """What was a document, as the container that `first` is; else the document's own value."""
    try:
        if isinstance(value, dict) and isinstance(first, Mapping):
            return _dict_like(value, first)
        if isinstance(value, list) and isinstance(first, (list, tuple)):
            return _tuple_like(value, first)
    except Exception:  # noqa: BLE001  A class of the program, whose constructor may ask for anything.
        pass
    return value


def _dict_like(values: dict[str, Any], first: Any) -> Any:
    if isinstance(first, dict) and type(first) is not dict:
        # A defaultdict has more to it than its keys.
        own = copy.copy(first)
        own.clear()
        own.update(values)
        return own
    return values


def _tuple_like(values: list[Any], first: Any) -> Any:
    return type(first)(*values) if hasattr(first, "_fields") else type(first)(values)


def as_given(raw: str, first: Any, floats: Collection[str]) -> Any:
    """A bad row as the program gave it, or its values by name. `raw` is its JSON, `first` another row of the same form, and `floats` are
    the columns of floats: any other number with a fraction is a decimal."""
    try:
        row = json.loads(raw, parse_float=decimal.Decimal)
    except ValueError:
        return raw
    if not isinstance(row, dict):
        return row
    row = {name: float(value) if name in floats and isinstance(value, decimal.Decimal) else value for name, value in row.items()}
    try:
        return _row_like(row, first)
    except Exception:  # noqa: BLE001  The rows are bad enough: whoever asks for them is to get them.
        return row


def _row_like(row: dict[str, Any], first: Any) -> Any:
    if isinstance(first, Mapping):
        # A key that neither has was not there.
        named = {name: value for name, value in row.items() if value is not None or name in first}
        return _dict_like({name: _like(value, first.get(name)) for name, value in named.items()}, first)
    if isinstance(first, (tuple, list)):
        values, fields = [*row.values()], getattr(first, "_fields", ())
        if sorted(fields) == sorted(row):
            values = [row[name] for name in fields]
        return _tuple_like([_like(value, one) for value, one in zip(values, first)], first)
    if dataclasses.is_dataclass(first) and not isinstance(first, type):
        # A TypeError where some of its fields are not for its constructor.
        return type(first)(**{name: _like(value, getattr(first, name, None)) for name, value in row.items()})
    return row
