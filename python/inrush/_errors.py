"""What can go wrong."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple

# json is imported where it is used: `import inrush` is to take no longer than it must.


class RejectedRow(NamedTuple):
    """A bad row."""

    #: Its number among all rows of the load, from 1.
    position: int
    #: The column whose value is bad; None where no single one is.
    column: str | None
    #: What sort of fault, such as "type", "not-null" or "duplicate-key".
    code: str
    #: The reason, with the value shortened.
    message: str
    #: The row: of a file its text, else the row as it was given.
    row: Any


class Error(Exception):
    """A load that did not happen, or not whole. Children say which sort; `kind` is the same as a word.

    >>> import inrush
    >>> try:
    ...     inrush.load("no such file.csv", "weather.db")
    ... except inrush.SourceError as error:
    ...     print(error.kind, error.aftermath)
    source nothing-changed
    """

    #: What sort of failure, as the command's JSON report has it.
    kind: str = "other"
    #: What to try, most promising first.
    advice: list[str]
    #: What is left of the load: "nothing-changed", "committed" or "unknown".
    aftermath: str = "nothing-changed"
    #: Rows of earlier steps that stay, where some were committed.
    rows_committed: int | None = None
    #: The input that is to blame, and where in it.
    file: str | None = None
    line: int | None = None
    record: int | None = None
    column: str | None = None
    #: The advice in words of the command.
    _told: list[str]

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.advice, self._told = [], []

    def __str__(self) -> str:
        return "; ".join([super().__str__(), *self.advice])

    def __reduce__(self) -> Any:
        return (type(self), self.args, self.__dict__)


class UsageError(Error):
    """What was asked for makes no sense."""

    kind = "usage"


class SourceError(Error):
    """The rows can't be read."""

    kind = "source"


class TargetError(Error):
    """The database can't be reached, or refuses."""

    kind = "target"


class RejectedRows(Error):
    """There are more bad rows than are allowed. `rows` has them: all, where they were to go to a list or a callback, else the last.

    >>> import inrush, tempfile, os
    >>> target = os.path.join(tempfile.mkdtemp(), "t.db")
    >>> try:
    ...     inrush.write([(1, "a"), (2, None)], target, table="t", columns={"id": "integer", "name": "text"}, primary_key="name")
    ... except inrush.RejectedRows as error:
    ...     row = error.rows[0]
    ...     print(row.position, row.column, row.code, row.row)
    2 name not-null (2, None)
    """

    kind = "rejects"
    rows: list[RejectedRow]

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.rows = []


class VerifyError(Error):
    """The table does not hold what was sent; the load was undone."""

    kind = "verify"


class Interrupted(Error, KeyboardInterrupt):
    """The load was stopped, and undone."""

    kind = "interrupted"


def behind_steps(error: BaseException, rows: int) -> None:
    """An error of ours that knows of no row which stays says that those of earlier steps do."""
    if rows > 0 and isinstance(error, Error) and error.aftermath in ("nothing-changed", "committed"):
        error.aftermath = "committed"
        error.rows_committed = max(rows, error.rows_committed or 0)


_CLASSES = {one.kind: one for one in (UsageError, SourceError, TargetError, RejectedRows, VerifyError, Interrupted)}


def rejected(told: str) -> RejectedRow:
    """A bad row, as the extension module tells it; `row` is its text."""
    import json

    about = json.loads(told)
    return RejectedRow(about["position"], about["column"], about["code"], _for_python(about["message"]), about["raw"])


_NUMBER = r"N\b|\d+%?|all\b"
_TEXT = r"[A-Z]{1,12}\b|%\S+"
_NAMES = r"[A-Z]{2,12}\b"
#: A word that a shell takes as it is.
_QUOTED = r"'[^']*'(?:\\''[^']*')*"
_PAIR = r"[^\s=]+=[^\s,;:)]+"

_TYPES = '{{"{}": "{}"}}'

#: The command's options: the keyword, how a value of it looks that is one and not the sentence going on, and how it is written here.
_OPTIONS: dict[str, tuple[str, str, str]] = {
    "table": ("table", _NAMES, "{}"),
    "if-exists": ("if_exists", r"(?:empty|append|replace|truncate|fail)\b", '"{}"'),
    "match": ("match_by", r"(?:name|position)\b", '"{}"'),
    "on-conflict": ("on_conflict", r"(?:fail|skip|replace|update)\b", '"{}"'),
    "key": ("key", _NAMES, "{}"),
    "primary-key": ("primary_key", _NAMES, "{}"),
    "index": ("indexes", _NAMES, "[{}]"),
    "type": ("types", _PAIR, _TYPES),
    "types": ("types", r"(?:infer|text)\b", '"{}"'),
    "format": ("format", r"(?:csv|tsv|jsonl|json|parquet|arrow)\b", '"{}"'),
    "flatten": ("flatten=True", "", ""),
    "delimiter": ("delimiter", r"(?:C|tab|comma|semicolon|pipe|space)\b", '"{}"'),
    "quote": ("quote", r"none\b", '"{}"'),
    "escape": ("escape", r"none\b", '"{}"'),
    "empty": ("empty", r"(?:null|text)\b", '"{}"'),
    "header": ("header", r"(?:yes|no)\b", "{}"),
    "null": ("nulls", rf"{_PAIR}|[^\s=]+=(?!\S)|{_TEXT}", '["{}"]'),
    "encoding": ("encoding", r"[a-z]+-?[0-9][\w-]*|NAME\b", '"{}"'),
    "skip-lines": ("skip_lines", _NUMBER, "{}"),
    "comment": ("comment", r"C\b", "{}"),
    "max-expand": ("max_expand", _NAMES, "{}"),
    "decimal": ("decimal", r"(?:[^\s='(]+=)?[.,](?![\w.,])", '"{}"'),
    "thousands": ("thousands", r"(?:[^\s='(]+=)?[.,_](?![\w.,])", '"{}"'),
    "date-format": ("date_format", _TEXT, '"{}"'),
    "timestamp-format": ("timestamp_format", r"%\S+(?: %\S+)*", '"{}"'),
    "true": ("true", _PAIR, '"{}"'),
    "false": ("false", _PAIR, '"{}"'),
    "time-zone": ("time_zone", r"[A-Z]\w*(?:/\w+)?", '"{}"'),
    "trim": ("trim=True", "", ""),
    "columns": ("columns", _NAMES, "{}"),
    "drop": ("drop", _NAMES, "{}"),
    "rename": ("rename", _PAIR, '{{"{}": "{}"}}'),
    "add": ("add", _PAIR, '{{"{}": "{}"}}'),
    "not-null": ("not_null", _NAMES, "{}"),
    "case": ("case", r"(?:exact|ignore|snake)\b", '"{}"'),
    "new-columns": ("new_columns", r"(?:fail|add|ignore)\b", '"{}"'),
    "missing-columns": ("missing_columns", r"(?:fail|null)\b", '"{}"'),
    "strategy": ("strategy", r"\w+/[\w-]+", '"{}"'),
    "set": ("settings", _PAIR, '{{"{}": "{}"}}'),
    "lanes": ("lanes", _NUMBER, "{}"),
    "encoders": ("encoders", _NUMBER, "{}"),
    "chunk-size": ("chunk_size", r"SIZE\b|\d+[kmg]?\b", '"{}"'),
    "duckdb-lib": ("duckdb_lib", _NAMES, "{}"),
    "profiles": ("profiles", r"none\b", '"{}"'),
    "durability": ("durability", r"(?:durable|process|none)\b", '"{}"'),
    "guarantee": ("guarantee", r"(?:atomic|chunks|per_partition|none)\b", '"{}"'),
    "commit-rows": ("commit_rows", _NUMBER, "{}"),
    "resume": ("resume=True", "", ""),
    "max-rejects": ("max_rejects", _NUMBER, "{}"),
    "rejects": ("rejects", _NAMES, "{}"),
    "partition": ("partition", _NUMBER, "{}"),
    "connections": ("connections", _NUMBER, "{}"),
    "attempts": ("attempts", _NUMBER, "{}"),
    "password": ("password", r"(?:env:NAME|file:PATH)\b", '"{}"'),
    "verify": ("verify", r"(?:count|checksum|none)\b", '"{}"'),
}

_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*[a-z])\b")


def _for_python(text: str) -> str:
    """A text that names options of the command, with the keywords instead: `--max-rejects N` is `max_rejects=N` here."""
    parts, at = [], 0
    for found in _OPTION.finditer(text):
        if found[1] not in _OPTIONS:
            continue
        keyword, looks, written = _OPTIONS[found[1]]
        parts += [text[at : found.start()], keyword]
        at = found.end()
        # What a shell wants in quotes is a value whatever it looks like.
        value = re.compile(rf" (?:({_QUOTED})|({looks}))").match(text, at) if looks else None
        if value is not None:
            at = value.end()
            said = value[2] if value[1] is None else value[1][1:-1].replace(r"'\''", "'")
            parts.append("=" + _written(said, written))
    return "".join([*parts, text[at:]])


def _written(value: str, written: str) -> str:
    if value in ("yes", "no"):
        return str(value == "yes")
    if '"' not in written and (value == "all" or not re.fullmatch(r"\w+", value)):
        written = written.replace("{}", '"{}"')
    # What stands behind the last = of a type, and behind the first one of others.
    pair = value.rpartition("=") if written == _TYPES else value.partition("=")
    values = [pair[0], pair[2]] if written.count("{}") > 1 else [value]
    if '"{}"' in written:
        written, values = written.replace('"{}"', "{}"), [_literal(one) for one in values]
    return written.format(*values)


def _literal(text: str) -> str:
    """A text as Python has it."""
    return f'"{text}"' if text.isprintable() and not re.search(r'["\\]', text) else repr(text)


def make(message: str, about: dict[str, Any]) -> Error:
    """The exception of a failure: what the extension module raises."""
    error = _CLASSES.get(about["kind"], Error)(_for_python(message))
    for name, value in about.items():
        setattr(error, name, value)
    error._told = error.advice
    error.advice = [_for_python(one) for one in error._told]
    return error


def without_advice(error: Error, keywords: Collection[str]) -> None:
    """Leaves out of an error's advice what options of these keywords are in."""

    def is_left(advice: str) -> bool:
        named = {_OPTIONS[found[1]][0].partition("=")[0] for found in _OPTION.finditer(advice) if found[1] in _OPTIONS}
        return named.isdisjoint(keywords)

    left = [one for one in error._told if is_left(one)]
    if left and left[0] is not error._told[0]:
        # What it was the other way to is gone.
        left[0] = left[0].removeprefix("or ")
    error._told, error.advice = left, [_for_python(one) for one in left]
