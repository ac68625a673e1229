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
        self._job: _job.Job | None = None

    def on_write_start(self, schema: Any = None) -> None:
        # What the user says, and else what Ray knows.
        schema = schema if self._schema is None else self._schema
        if schema is None:
            raise UsageError("Ray says nothing of the columns: say schema=, a schema of PyArrow")
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
        batches = _batches(blocks)
        first = next(batches, None)
        if first is None:
            return None

        def all_batches() -> Iterator[Any]:
            yield first
            yield from batches

        # Ray numbers its tasks from 0; without a promise for each of them that is of no use.
        partition = ctx.task_idx if self._job.guarantee == "per_partition" else None
        rows = _pyarrow.RecordBatchReader.from_batches(first.schema, all_batches())
        return str(_job.write(self._job, rows, partition=partition))

    def on_write_complete(self, write_result: Any) -> None:
        if self._job is not None:
            self.report = _job.publish(self._job, [token for token in write_result.write_returns if token is not None])

    def on_write_failed(self, error: Exception) -> None:
        if self._job is not None:
            _job.abort(self._job)

    def get_name(self) -> str:
        return "inrush"


def _batches(blocks: Iterable[Any]) -> Iterator[Any]:
    for block in blocks:
        yield from BlockAccessor.for_block(block).to_arrow().to_batches()
