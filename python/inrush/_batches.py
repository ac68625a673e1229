"""Record batches that come one by one, as one stream: a stream of Arrow says its columns once, and PyArrow compares no batch with them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as _pyarrow  # type: ignore[import-untyped, unused-ignore]

from ._errors import UsageError


#: How many bytes of batches are looked at to find out of what type a column is of which there are only NULLs so far.
_AHEAD_MAX = 64 << 20


def reader_of(batches: Iterable[Any], columns: Any = None, *, otherwise: Any = None) -> Any:
    """A reader of the batches, each with the columns and types of `columns`, or else of the first one, and of columns without a value
    there of the first one that has some. Without a batch a reader of no rows with the columns of `otherwise`, and None without those.

    Raises UsageError where a batch has other columns, or values that its column's type can't take exactly.
    """
    batches = iter(batches)
    ahead = [*itertools.islice(batches, 1)]
    if not ahead:
        columns = otherwise
    elif columns is None:
        columns = ahead[0].schema
        while any(_pyarrow.types.is_null(field.type) for field in columns) and sum(batch.nbytes for batch in ahead) < _AHEAD_MAX:
            more = [*itertools.islice(batches, 1)]
            if not more:
                break
            ahead += more
            columns = _pyarrow.schema([_known(field, more[0].schema) for field in columns])
    if columns is None:
        return None
    # Whether there are NULLs a batch can say of itself only.
    columns = _pyarrow.schema([field.with_nullable(True) for field in columns])

    def aligned() -> Iterator[Any]:
        while ahead:
            yield _aligned(ahead.pop(0), columns)
        for batch in batches:
            yield _aligned(batch, columns)

    return _pyarrow.RecordBatchReader.from_batches(columns, aligned())


def _known(field: Any, columns: Any) -> Any:
    """The field as others have it, where so far it had only NULLs."""
    if not _pyarrow.types.is_null(field.type) or columns.names.count(field.name) != 1:
        return field
    return columns.field(field.name)


def _aligned(batch: Any, columns: Any) -> Any:
    names = batch.schema.names
    if names == columns.names:
        places = list(range(len(names)))
    elif sorted(names) == sorted(columns.names) and len(set(names)) == len(names):
        places = [names.index(name) for name in columns.names]
    else:
        raise UsageError(f"a batch has columns {_words(names)}, and those before it {_words(columns.names)}")
    return _pyarrow.RecordBatch.from_arrays(
        [_exactly(batch.column(place), field) for place, field in zip(places, columns, strict=True)], schema=columns
    )


def _exactly(values: Any, field: Any) -> Any:
    if values.type == field.type:
        return values
    types = _pyarrow.types
    plain = values.dictionary_decode() if types.is_dictionary(values.type) else values
    try:
        if types.is_null(plain.type) or (types.is_integer(plain.type) and _family(field.type) == "text"):
            return plain.cast(field.type)
        if _family(plain.type) is not None and _family(plain.type) == _family(field.type):
            cast = plain.cast(field.type)
            # NaN is not equal to itself, and loses nothing in a wider type.
            is_wider = types.is_floating(plain.type) and field.type == _pyarrow.float64()
            if is_wider or cast.cast(plain.type).equals(plain):
                return cast
        why = "its values are others there"
    except (_pyarrow.ArrowInvalid, _pyarrow.ArrowNotImplementedError) as error:
        why = str(error)
    raise UsageError(
        f"column {field.name} is {values.type} in a batch, and {field.type} in those before it: {why}; give all of them one type"
    )


def _family(type: Any) -> str | None:
    """Types whose values may be the same ones; None of those that are only themselves."""
    types = _pyarrow.types
    if types.is_timestamp(type):
        return f"timestamp {type.tz}"
    families = {
        "number": lambda type: types.is_integer(type) or types.is_floating(type) or types.is_decimal(type),
        "text": lambda type: types.is_string(type) or types.is_large_string(type),
        "bytes": lambda type: types.is_binary(type) or types.is_large_binary(type),
        "time": types.is_time,
        "duration": types.is_duration,
    }
    return next((family for family, is_of in families.items() if is_of(type)), None)


def _words(names: Iterable[str]) -> str:
    return ", ".join(names)
