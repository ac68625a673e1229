"""Record batches that come one by one, as one stream: a stream of Arrow says its columns once, and PyArrow compares no batch with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as _pyarrow  # type: ignore[import-untyped, unused-ignore]

from ._errors import UsageError


def reader_of(batches: Iterable[Any], columns: Any = None, *, otherwise: Any = None) -> Any:
    """A reader of the batches, each with the columns and types of `columns`, or else of the first one. Without a batch a
    reader of no rows with the columns of `otherwise`, and None without those.

    Raises UsageError where a batch has other columns, or values that its column's type can't take exactly.
    """
    batches = iter(batches)
    first = next(batches, None)
    if first is None:
        columns = otherwise
    elif columns is None:
        columns = first.schema
    if columns is None:
        return None
    # Whether there are NULLs a batch can say of itself only.
    columns = _pyarrow.schema([field.with_nullable(True) for field in columns])

    def aligned() -> Iterator[Any]:
        if first is not None:
            yield _aligned(first, columns)
        for batch in batches:
            yield _aligned(batch, columns)

    return _pyarrow.RecordBatchReader.from_batches(columns, aligned())


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
    try:
        return values.cast(field.type)
    except (_pyarrow.ArrowInvalid, _pyarrow.ArrowNotImplementedError) as error:
        raise UsageError(
            f"column {field.name} is {values.type} in a batch, and {field.type} in those before it: {error}; "
            "give all of them one type"
        ) from error


def _words(names: Iterable[str]) -> str:
    return ", ".join(names)
