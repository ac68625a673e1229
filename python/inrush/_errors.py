"""What can go wrong."""

from __future__ import annotations

import re
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

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.advice = []

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


_CLASSES = {one.kind: one for one in (UsageError, SourceError, TargetError, RejectedRows, VerifyError, Interrupted)}


def rejected(told: str) -> RejectedRow:
    """A bad row, as the extension module tells it; `row` is its text."""
    import json

    about = json.loads(told)
    return RejectedRow(about["position"], about["column"], about["code"], about["message"], about["raw"])


def _as_keyword(option: re.Match[str]) -> str:
    name, value = option[1].replace("-", "_"), option[2]
    return f"{name}={value}" if value else name


def _for_python(advice: str) -> str:
    """Advice that names options of the command: `--max-rejects N` is `max_rejects=N` here."""
    return re.sub(r"--([a-z][a-z-]+)(?:[ ]([A-Za-z0-9]+)(?![\w=]))?", _as_keyword, advice)


def make(message: str, about: dict[str, Any]) -> Error:
    """The exception of a failure: what the extension module raises."""
    error = _CLASSES.get(about["kind"], Error)(message)
    for name, value in about.items():
        setattr(error, name, value)
    error.advice = [_for_python(one) for one in error.advice]
    return error
