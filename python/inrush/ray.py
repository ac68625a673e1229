"""Ray Data's rows into a database, written by its workers: all rows or none, each once, whatever is tried again.

sink = inrush.ray.Sink("postgres://app@db/shop", table="orders", password="env:PGPASSWORD")
ds.write_datasink(sink)
sink.report.rows_loaded

Each is a step of a job, see `inrush.job` and docs/distributed.md. Workers need inrush in their Python, and the password where the
reference says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from . import job as _job
from ._batches import reader_of
from ._errors import UsageError
from ._result import JobReport

__all__ = ["Sink"]

try:
    import pyarrow as _pyarrow  # type: ignore[import-untyped, unused-ignore]
    from ray.data import DataContext, Datasink  # type: ignore[import-not-found, unused-ignore]
    from ray.data.block import BlockAccessor  # type: ignore[import-not-found, unused-ignore]
except ImportError as error:
    raise ImportError(f"inrush.ray needs Ray Data: pip install 'ray[data]' ({error})") from error


class Sink(Datasink):  # type: ignore[misc, unused-ignore]
    """Where `Dataset.write_datasink` writes to. Keywords are those of `inrush.job.begin`; `schema` says what the columns are, and is
    needed where Ray does not know.

    `report` is what was done, once it is. `guarantee="per_partition"` is for datasets whose blocks come in the same order each time:
    `ray.data.DataContext.get_current().execution_options.preserve_order = True`.
    """

    report: JobReport | None = None

    def __init__(self, url: str, *, table: str, schema: Any = None, **options: Any) -> None:
        self._url, self._schema, self._options = url, schema, {"table": table, **options}
        #: What Ray says of the columns, where it says it in Arrow's words.
        self._said: Any = None
        self._job: _job.Job | None = None

    def on_write_start(self, schema: Any = None) -> None:
        # What the user says, and else what Ray knows.
        if self._schema is not None:
            schema = self._schema
        elif isinstance(schema, _pyarrow.Schema):
            self._said = schema
        if schema is None:
            raise UsageError("Ray says nothing of the columns: say schema=, a schema of PyArrow, as in schema=ds.schema().base_schema")
        if self._options.get("guarantee") == "per_partition" and not DataContext.get_current().execution_options.preserve_order:
            raise UsageError(
                "guarantee: per_partition wants the same rows in each task whenever it is tried: "
                "set ray.data.DataContext.get_current().execution_options.preserve_order = True"
            )
        self._job = _job.begin(self._url, schema, **self._options)

    def write(self, blocks: Iterable[Any], ctx: Any) -> str | None:
        assert self._job is not None
        if self._job.state == "committed":
            return None
        columns = self._schema if isinstance(self._schema, _pyarrow.Schema) else None
        rows = reader_of(_batches(blocks), columns)
        if rows is None:
            return None
        if self._said is not None:
            self._expect(rows.schema)
        # Ray numbers its tasks from 0; without a promise for each of them that is of no use.
        partition = ctx.task_idx if self._job.guarantee == "per_partition" else None
        return str(_job.write(self._job, rows, partition=partition))

    def _expect(self, columns: Any) -> None:
        """Ray joins a write with the functions before it, and then says what the columns are before those."""
        said, has = ({field.name: _kind(field.type) for field in schema} for schema in (self._said, columns))
        kinds = [(said[name], has[name]) for name in said if name in has]
        if said.keys() == has.keys() and all(None in pair or pair[0] == pair[1] for pair in kinds):
            return
        raise UsageError(
            f"the table has the columns that Ray says ({_words(self._said)}), and the blocks have others ({_words(columns)}): "
            "say schema=, a schema of PyArrow, as in schema=ds.schema().base_schema"
        )

    def on_write_complete(self, write_result: Any) -> None:
        if self._job is not None:
            self.report = _job.publish(self._job, [token for token in write_result.write_returns if token is not None])

    def on_write_failed(self, error: Exception) -> None:
        if self._job is not None:
            _job.abort(self._job)

    def get_name(self) -> str:
        return "inrush"


def _kind(type: Any) -> str | None:
    """What values of numbers, truth, time and text are; None of others."""
    types = _pyarrow.types
    if types.is_dictionary(type):
        return _kind(type.value_type)
    kinds = {
        "integer": types.is_integer,
        "float": types.is_floating,
        "decimal": types.is_decimal,
        "boolean": types.is_boolean,
        "time": types.is_temporal,
        "text": lambda type: types.is_string(type) or types.is_large_string(type),
    }
    return next((kind for kind, is_it in kinds.items() if is_it(type)), None)


def _words(schema: Any) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)


def _batches(blocks: Iterable[Any]) -> Iterator[Any]:
    for block in blocks:
        yield from BlockAccessor.for_block(block).to_arrow().to_batches()
