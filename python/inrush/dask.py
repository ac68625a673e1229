"""Dask's frames into a database, written by its workers: all rows or none, each once, whatever is tried again.

inrush.dask.write(ddf, "postgres://app@db/shop", table="orders", password="env:PGPASSWORD")

Each partition is a step of a job, see `inrush.job` and docs/distributed.md. Workers need inrush in their Python, and the password where the
reference says.
"""

from __future__ import annotations

from typing import Any

from . import job as _job
from ._result import JobReport

__all__ = ["write"]

try:
    import dask as _dask  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import dask.dataframe  # type: ignore[import-untyped, import-not-found, unused-ignore]  # noqa: F401
except ImportError as error:
    raise ImportError(f"inrush.dask needs Dask's frames: pip install 'dask[dataframe]' ({error})") from error


def write(ddf: Any, url: str, *, table: str, **options: Any) -> JobReport:
    """Writes a frame of Dask into a table: all rows or none. Keywords are those of `inrush.job.begin`.

    With `guarantee="per_partition"` and a `job_id`, a load that failed goes on behind the partitions that are there.
    """
    job = _job.begin(url, _schema(ddf), table=table, attempts=ddf.npartitions, **options)
    if job.state == "committed":
        return _job.publish(job, [])
    attempt = _dask.delayed(_write, pure=False)
    try:
        tokens = _dask.compute(*(attempt(str(job), part, number) for number, part in enumerate(ddf.to_delayed())))
        return _job.publish(job, tokens)
    except BaseException:
        _job.abort(job)
        raise


def _schema(ddf: Any) -> _job.Open:
    """What the columns are, as far as Dask knows: its stand-ins for objects are of no type that the objects themselves are of."""
    meta = ddf._meta_nonempty
    if not hasattr(meta, "columns"):
        meta = meta.to_frame()
    return _job.Open(meta.assign(**{name: None for name in meta.columns[meta.dtypes == object]}))


def _write(job: str, part: Any, number: int) -> str:
    return str(_job.write(job, part, partition=number))
