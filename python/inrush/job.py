"""One load that several processes write, on as many machines as there are: all rows or none, each once.

    job = inrush.job.begin("postgres://app@db/shop", frame, table="orders", password="env:PGPASSWORD")
    token = inrush.job.write(job, frame)        # anywhere, any number of times
    inrush.job.publish(job, [token])            # now others see the rows, all at once

`str(job)` and `str(token)` are texts that can be sent to other processes; they hold no password, and every function takes the object or
its text. For PostgreSQL, MySQL and MariaDB; see docs/distributed.md.
"""

from __future__ import annotations

import builtins
import json
import numbers
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _inrush, _options
from ._api import Rows, _is_arrow, _same, _sources
from ._errors import Error, UsageError, without_advice
from ._result import JobReport, _Told

__all__ = ["Job", "Token", "abort", "begin", "begin_files", "gc", "list", "publish", "recover", "write"]


class _Text(_Told):
    """What travels as text. The attributes are the keys of that text, which is JSON."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self._text)

    def __reduce__(self) -> Any:
        return (type(self), (self._text,))


class Job(_Text):
    """A job. `id` is what it is called, `state` how far it was when this was made."""

    def __repr__(self) -> str:
        return f"<Job {self.id}: {self.state}>"


class Token(_Text):
    """What an attempt has written: `rows` of them, and those `rejected`."""

    def __repr__(self) -> str:
        return f"<Token of job {self.job}: {self.rows:,} rows>"


def _text(what: str, given: Any) -> str:
    if isinstance(given, (str, _Text)):
        return str(given)
    raise UsageError(f"{what}: {type(given).__name__} is neither what begin or write has answered, nor its text")


def _refuse(function: str, said: Mapping[str, Any], no_file: str | None = None) -> None:
    """Refuses keywords that a function has no use for: of those of `load` it takes what says how files are written and read, or, where
    `no_file` says why, none."""
    for name in said:
        if name not in _options.KNOWN:
            raise _options.unexpected(function, name, _options.KNOWN)
        if name in _options.OF_FILES:
            why = no_file
        elif function == "write" and name in (begin.__kwdefaults__ or ()):
            why = "begin() takes it, for all rows of the job"
        elif name == "rejects":
            why = "no job takes it: what publish() returns, or raises, has the bad rows"
        else:
            why = "no job takes it"
        if why is not None:
            raise UsageError(f"{name}: {why}")


def _said(job_id: Any, connections: Any, attempts: Any, password: Any, guarantee: Any, wants_types: bool = False) -> tuple[Any, ...]:
    """What is said of a job itself, as the extension module takes it."""
    return (
        _options.text("job_id", job_id),
        _options.count("connections", connections) or 8,
        _options.count("attempts", attempts),
        _options.text("password", password),
        _options.text("guarantee", guarantee) or "atomic",
        wants_types,
    )


def _schema(given: Any) -> tuple[Any, builtins.list[str] | None, bool, bool]:
    """What says what a job's rows are like, as the extension module takes it: of a frame its columns as they would be written."""
    if hasattr(given, "__arrow_c_schema__"):
        return (given, None, True, False)
    source = Rows(given) if _is_arrow(given) or hasattr(given, "columns") else None
    if source is None or not (source.is_pandas or _is_arrow(source.rows)):
        raise UsageError("schema: takes what has Arrow's interface: a schema of PyArrow, or a frame")
    return source.fed(source.columns)


class Open:
    """A schema whose columns without a type are those that nothing is known of: a table is made only where `types` says what they are."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame


def _columns(job: str) -> builtins.list[str]:
    """The names of a job's columns."""
    try:
        return builtins.list(json.loads(job)["columns"])
    except (ValueError, KeyError, TypeError):
        raise UsageError("this is no text of a job: take what begin has answered, whole and unchanged") from None


def begin(
    url: str,
    schema: Any = None,
    *,
    table: str,
    like: Any = None,
    job_id: str | None = None,
    if_exists: str = "append",
    match_by: str | None = None,
    on_conflict: str | None = None,
    key: str | Sequence[str] | None = None,
    primary_key: str | Sequence[str] | None = None,
    indexes: str | Sequence[str | Sequence[str]] | None = None,
    types: Mapping[str, str] | None = None,
    strategy: str | None = None,
    settings: Mapping[str, Any] | None = None,
    max_rejects: int | str = 0,
    durability: str | None = None,
    verify: str | None = None,
    connections: int = 8,
    attempts: int | None = None,
    password: str | None = None,
    guarantee: str = "atomic",
    **dialect: Any,
) -> Job:
    """Begins a job, on the machine that will publish it or abort it.

    `schema` is what has Arrow's interface: a schema of PyArrow, or a frame, none of whose rows is written; `like` instead of it is a
    file, with the keywords of `load` that say how it is written. `if_exists` is append, empty or replace; a table that does not exist
    is made when the job is published. A `job_id` that is committed already comes back in that state, and publishing it does nothing.
    `connections` is how many attempts write at the same time, over all machines; `attempts` how many tokens publishing wants.
    `password` says where each machine finds it: `env:NAME` or `file:PATH`.

    `guarantee` is what others see before the job is published: nothing (`atomic`); each partition as soon as it is written, and once
    (`per_partition`), where `write` has to know the partition and each partition has the same rows whenever it is written; or whatever
    attempts write, also twice (`none`). An aborted job with `per_partition` goes on when it is begun again: `visible` says with what.
    """
    if (schema is None) == (like is None):
        raise UsageError("say what the rows are like: either schema, or like=FILE")
    _refuse("begin", dialect, "is for files, and schema= is none: say like=FILE" if like is None else None)
    said = _options.request(
        target=url,
        sources=None if like is None else _sources(like),
        table=table,
        if_exists=if_exists,
        match_by=match_by,
        on_conflict=on_conflict,
        key=key,
        primary_key=primary_key,
        indexes=indexes,
        types=types,
        strategy=strategy,
        settings=settings,
        max_rejects=max_rejects,
        durability=durability,
        verify=verify,
        **dialect,
    )
    wants_types = isinstance(schema, Open)
    columns = None if schema is None else _schema(schema.frame if wants_types else schema)
    of_job = _said(job_id, connections, attempts, password, guarantee, wants_types)
    return Job(_inrush.job_begin(_options.UNWATCHED, columns, said, of_job))


def begin_files(
    url: str,
    sources: Any,
    *,
    table: str,
    parts: int | None = None,
    part_bytes: int | str = "64m",
    job_id: str | None = None,
    if_exists: str = "append",
    match_by: str | None = None,
    on_conflict: str | None = None,
    key: str | Sequence[str] | None = None,
    primary_key: str | Sequence[str] | None = None,
    indexes: str | Sequence[str | Sequence[str]] | None = None,
    types: Mapping[str, str] | str | None = None,
    strategy: str | None = None,
    settings: Mapping[str, Any] | None = None,
    max_rejects: int | str = 0,
    durability: str | None = None,
    verify: str | None = None,
    connections: int = 8,
    password: str | None = None,
    guarantee: str = "atomic",
    **dialect: Any,
) -> tuple[Job, builtins.list[str]]:
    """Begins a job for the rows of files, and cuts these into parts, for as many attempts: `write(job, split=part)`.

    There are `parts` of them, or so many that each has about `part_bytes`, as a number or as a text such as 64m; fewer where files
    can't be cut. A part is text that says where it is and all that is known of its files, and every machine that writes one has to
    find the file under the same path. Files are cut between records, also where values hold newlines. Where the job makes the table,
    every value is looked at before, unless `types` says what the columns are. Other keywords are those of `begin`, and those of `load`
    that say how files are written. Of a job that is committed already there are no parts.
    """
    _refuse("begin_files", dialect)
    said = _options.request(
        target=url,
        sources=_sources(sources),
        table=table,
        if_exists=if_exists,
        match_by=match_by,
        on_conflict=on_conflict,
        key=key,
        primary_key=primary_key,
        indexes=indexes,
        types=types,
        strategy=strategy,
        settings=settings,
        max_rejects=max_rejects,
        durability=durability,
        verify=verify,
        **dialect,
    )
    cut = (_options.count("parts", parts), _options.size(part_bytes, "part_bytes") or 1)
    job, splits = _inrush.job_begin_files(_options.UNWATCHED, said, _said(job_id, connections, None, password, guarantee), cut)
    return Job(job), splits


def write(
    job: Job | str,
    batches: Any = None,
    *,
    split: str | None = None,
    partition: int | None = None,
    progress: Any = False,
    **dialect: Any,
) -> Token:
    """Writes rows for a job, all of them or none: an attempt. The token is what publishing them takes.

    `batches` is what `inrush.write` takes: a frame, an Arrow stream, an iterable of dicts or tuples, a dict of columns; or the path of a
    file, with the keywords of `load` that say how it is written. `split` instead is a part of files that `begin_files` has cut.
    `partition` is which part of the job's rows they are, from 0: then publishing sees to it that each part is there once. A job with the
    guarantee `per_partition` wants it; where the partition is in the table already nothing is written, and the token is
    `already_written`.
    """
    text = _text("job", job)
    if (batches is None) == (split is None):
        raise UsageError("say what is to be written: either rows, or split=PART")
    partition = _options.count("partition", partition, 0)
    if split is not None:
        _refuse("write", dialect, "begin_files() takes it, for all parts")
        split = _text("split", split)
        watching = _options.watching(progress, None, _same)
        return Token(_inrush.job_write_split(watching, text, split, partition))
    if isinstance(batches, (str, os.PathLike)):
        _refuse("write", dialect)
        said = _options.request(target="", sources=_sources(batches), **dialect)
        watching = _options.watching(progress, None, _same)
        return Token(_inrush.job_write_files(watching, text, said, partition))
    _refuse("write", dialect, "is for files, and these are rows of the program")
    source = Rows(batches)
    for note in source.notes:
        warnings.warn(note, stacklevel=2)
    watching = _options.watching(progress, None, source.as_given)
    names = source.names_or(lambda: _columns(text))
    try:
        return Token(_inrush.job_write(watching, text, source.fed(names), partition))
    except Error as error:
        # What is for files alone is no advice here.
        without_advice(error, _options.OF_FILES)
        raise


def publish(job: Job | str, tokens: Token | str | Iterable[Token | str]) -> JobReport:
    """Lets others see the rows that the tokens name, or the one, all at once, and no other rows.

    A job that is published a second time says what it has done the first time, and does nothing. Where more rows are bad than the job
    allows, the `rows` of the error have them all.
    """
    texts = []
    given: Iterable[Any] = [tokens] if isinstance(tokens, (str, Token)) else tokens
    for token in given:
        if token is None:
            raise UsageError("tokens: one is None, so the rows of an attempt are missing; write them again")
        texts.append(_text("tokens", token))
    watching = _options.watching(False, None, _same)
    return JobReport(_inrush.job_publish(watching, _text("job", job), texts))


def abort(job: Job | str) -> Job:
    """Ends a job that is not to be published, and drops what it has written and others don't see. One that is committed stays so.

    `state` of the answer says which, and `visible` what of a job with the guarantee `per_partition` stays in the table.
    """
    return Job(_inrush.job_abort(_options.UNWATCHED, _text("job", job)))


def list(url: str, *, password: str | None = None) -> builtins.list[dict[str, Any]]:
    """The jobs of a database: `id`, `table`, `guarantee`, `state`, `working`, `begun`, `heartbeat_age` and `version` of each."""
    jobs: builtins.list[dict[str, Any]] = json.loads(_inrush.job_list(_options.UNWATCHED, url, _options.text("password", password)))
    return jobs


def recover(url: str, job_id: str, *, password: str | None = None) -> Job:
    """Brings a job to its end whose processes are gone: one that was being published is published, any other is aborted."""
    return Job(_inrush.job_recover(_options.UNWATCHED, url, job_id, _options.text("password", password)))


def gc(url: str, older_than: float = 86_400, *, password: str | None = None) -> dict[str, Any]:
    """Drops what jobs have left that are over, and ends those at which no process has worked for `older_than` seconds.

    `ended` of the answer has of each of these its `id`, `schema`, `table`, `state` (`committed` or `aborted`) and `rows`, as many as stay in
    the table; `None` where that is not known.
    """
    if isinstance(older_than, bool) or not isinstance(older_than, numbers.Real):
        raise UsageError(f"older_than: {older_than!r} is not a number of seconds")
    collected: dict[str, Any] = json.loads(_inrush.job_gc(_options.UNWATCHED, url, float(older_than), _options.text("password", password)))
    return collected
