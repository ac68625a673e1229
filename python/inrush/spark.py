"""Spark's rows and files into a database, written by its executors: all rows or none, each once, whatever is tried again.

inrush.spark.write(df, "postgres://app@db/shop", table="orders", password="env:PGPASSWORD")
inrush.spark.load(spark, "/data/orders/*.csv", "postgres://app@db/shop", table="orders", password="env:PGPASSWORD")
df.write.format("inrush").option("url", "postgres://app@db/shop").option("table", "orders").mode("append").save()

All of them are steps of a job, see `inrush.job` and docs/distributed.md: an attempt at a task writes into a table of its own, and the
driver publishes those whose results Spark has taken. Executors need inrush in the Python that they use, and the password where the
reference says.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import job as _job
from ._batches import reader_of
from ._errors import UsageError
from ._result import JobReport

__all__ = ["load", "write"]

try:
    import pyarrow as _pyarrow  # type: ignore[import-untyped, unused-ignore]
    import pyspark  # type: ignore[import-not-found, unused-ignore]  # noqa: F401
except ImportError as error:
    raise ImportError(f"inrush.spark needs Spark and Arrow: pip install pyspark pyarrow ({error})") from error

#: Spark's words for what happens to an existing table.
MODES = {"append": "append", "overwrite": "replace"}

#: What an attempt answers: its token.
_ANSWER = "token string"


def write(df: Any, url: str, *, table: str, mode: str = "append", force: bool = False, **options: Any) -> JobReport:
    """Writes a frame of Spark into a table: all rows or none.

    `mode` is append, or overwrite, which recreates the table. Other keywords are those of `inrush.job.begin`: `job_id`, `connections`,
    `password`, `on_conflict`, `key`, `primary_key`, `max_rejects` and so on. Needs `mapInArrow`, which Spark has since 3.3;
    tested with Spark 4.3.

    `guarantee="per_partition"` is for frames that have the same rows in each partition whenever it is computed; `guarantee="none"` is
    refused where Spark runs slow tasks twice (`spark.speculation`), unless `force` is true.
    """
    if mode not in MODES:
        raise UsageError(f"mode: '{mode}' is none of {', '.join(MODES)}")
    _refuse_copies(df.sparkSession, options, force)
    schema = schema_of(df.schema)
    job = _job.begin(url, schema, table=table, if_exists=MODES[mode], **options)
    return _run(job, lambda: df.mapInArrow(_rows_of(job, schema), _ANSWER))


def load(
    spark: Any,
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    url: str,
    *,
    table: str,
    mode: str = "append",
    force: bool = False,
    **options: Any,
) -> JobReport:
    """Loads files, of which executors read a part each: all rows or none.

    The driver cuts the files, and so has to see them under the same paths as the executors. Keywords are those of
    `inrush.job.begin_files`: `parts` or `part_bytes`, `types`, those that say how files are written, and what `write` takes.
    """
    if mode not in MODES:
        raise UsageError(f"mode: '{mode}' is none of {', '.join(MODES)}")
    _refuse_copies(spark, options, force)
    job, splits = _job.begin_files(url, paths, table=table, if_exists=MODES[mode], **options)
    # One number a task: which of the parts is its own.
    return _run(job, lambda: spark.range(0, len(splits), 1, len(splits)).mapInArrow(_part_of(str(job), splits), _ANSWER))


def _refuse_copies(session: Any, options: dict[str, Any], force: bool) -> None:
    """Refuses to promise nothing where Spark runs tasks twice, for then rows are there twice although nothing has failed."""
    is_on = session.conf.get("spark.speculation", "false").lower() == "true"
    if options.get("guarantee") == "none" and is_on and not force:
        raise UsageError(
            "guarantee: with spark.speculation Spark runs slow tasks twice, and none lets the rows of both into the table: "
            "say per_partition or atomic, turn speculation off, or force=True"
        )


def _run(job: _job.Job, frame: Callable[[], Any]) -> JobReport:
    """Runs the tasks, and publishes what Spark has taken of their answers: one of each task, however often it was tried."""
    if job.state == "committed":
        return _job.publish(job, [])
    try:
        tokens = [row.token for row in frame().collect()]
        return _job.publish(job, tokens)
    except BaseException:
        _job.abort(job)
        raise


def _rows_of(job: _job.Job | str, schema: Any = None) -> Callable[[Iterator[Any]], Iterator[Any]]:
    text = str(job)

    def attempt(batches: Iterator[Any]) -> Iterator[Any]:
        token = token_of(text, batches, schema)
        if token is not None:
            yield _answer(token)

    return attempt


def _part_of(job: str, splits: list[str]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def attempt(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _answer(str(_job.write(job, split=splits[number])))

    return attempt


def _answer(token: str) -> Any:
    return _pyarrow.RecordBatch.from_pydict({"token": [token]})


def token_of(job: str, batches: Iterator[Any], schema: Any = None) -> str | None:
    """The token of an attempt; None where there are no rows, unless the job wants to know of each partition."""
    partition = partition_of(job)
    rows = reader_of(batches, otherwise=None if partition is None else schema)
    if rows is None:
        return None
    return str(_job.write(job, rows, partition=partition))


def partition_of(job: str) -> int | None:
    """Which partition the task is of, where the job promises something for each."""
    if _job.Job(job).guarantee != "per_partition":
        return None
    from pyspark import TaskContext  # type: ignore[import-not-found, unused-ignore]

    context = TaskContext.get()
    assert context is not None
    return int(context.partitionId())


def schema_of(schema: Any) -> Any:
    """The columns as their batches will have them."""
    from pyspark.sql.pandas.types import to_arrow_schema  # type: ignore[import-not-found, unused-ignore]

    # A moment without a zone has a type of its own; since 4.3 Spark has to be told the zone of the others.
    has_zone = "timezone" in inspect.signature(to_arrow_schema).parameters
    return to_arrow_schema(schema, timezone="UTC") if has_zone else to_arrow_schema(schema)
