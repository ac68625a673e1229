"""What writes for the data source `inrush` of Spark 4: made once, on the driver, and copied to wherever its methods run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage  # type: ignore[import-not-found, unused-ignore]

from . import job as _job
from ._errors import UsageError
from .spark import MODES, schema_of, token_of

#: The options, which come as texts, and how each is read.
_OPTIONS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("url", "table", "job_id", "match_by", "on_conflict", "strategy", "max_rejects", "durability", "verify", "password"), str),
    "guarantee": str,
    **dict.fromkeys(("key", "primary_key"), lambda text: [name.strip() for name in text.split(",")]),
    "connections": int,
    "force": lambda text: text.strip().lower() == "true",
}


@dataclass
class Written(WriterCommitMessage):  # type: ignore[misc, unused-ignore]
    """What a task answers."""

    #: None where there were no rows.
    token: str | None


class Writer(DataSourceArrowWriter):  # type: ignore[misc, unused-ignore]
    """The steps of a job, each where Spark wants it."""

    def __init__(self, schema: Any, overwrite: bool, options: Mapping[str, str]) -> None:
        said = _read(options)
        url = said.pop("url")
        # A data source does not see whether Spark runs tasks twice.
        if said.get("guarantee") == "none" and not said.pop("force", False):
            raise UsageError(
                "guarantee: Spark does not let a data source know whether it runs slow tasks twice, and none lets the rows of both into "
                "the table: say per_partition or atomic, use inrush.spark.write, or the option force"
            )
        said.pop("force", None)
        self._schema = schema_of(schema)
        job = _job.begin(url, self._schema, if_exists=MODES["overwrite" if overwrite else "append"], **said)
        self._job, self._is_done = str(job), job.state == "committed"

    def write(self, iterator: Iterator[Any]) -> Written:
        return Written(None if self._is_done else token_of(self._job, iterator, self._schema))

    def commit(self, messages: list[Any]) -> None:
        _job.publish(self._job, [message.token for message in messages if message.token is not None])

    def abort(self, messages: list[Any]) -> None:
        # A job whose commit has been heard of by nobody but the database stays committed.
        _job.abort(self._job)


def _read(options: Mapping[str, str]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for name, text in options.items():
        name = name.lower()
        if name == "path":
            raise UsageError("a database has no path: leave save() without one, and say .option('url', URL).option('table', TABLE)")
        if name not in _OPTIONS:
            raise UsageError(f"'{name}' is no option: there are {', '.join(sorted(_OPTIONS))}")
        try:
            said[name] = _OPTIONS[name](text)
        except ValueError:
            raise UsageError(f"{name}: '{text}' is no number") from None
    for name in ("url", "table"):
        if name not in said:
            raise UsageError(f"the option '{name}' is missing")
    return said
