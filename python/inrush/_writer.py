"""Rows that a program has one after the other."""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
import warnings
import weakref
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Callable

from . import _inrush, _options
from ._api import Rows, explained
from ._errors import RejectedRow, UsageError, behind_steps
from ._result import Report

#: Those that are neither finished nor aborted.
_OPEN: weakref.WeakSet[Writer] = weakref.WeakSet()


@atexit.register
def _leave() -> None:
    """While the interpreter is whole: afterwards a load can't be ended tidily."""
    _inrush.leave()
    until = time.monotonic() + 5
    for writer in list(_OPEN):
        while True:
            try:
                writer.__del__()
                break
            except UsageError:
                # Another thread is in the middle of a call, which it does not come back from with more rows.
                if time.monotonic() > until:
                    break
                time.sleep(0.01)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_inrush.forked)


class Writer(_inrush.RowWriter):
    """Takes rows one after the other and loads them meanwhile; memory is bounded.

    All rows or none: they are there when the `with` block ends, and not at all when it is left by an exception. `columns` and the other
    keywords are those of `write`.

    >>> import inrush, tempfile, os
    >>> target = os.path.join(tempfile.mkdtemp(), "shop.db")
    >>> with inrush.Writer(target, table="events") as rows:
    ...     for number in range(3):
    ...         rows.insert({"id": number, "name": f"event {number}"})
    >>> rows.report.rows_loaded
    3

    With `commit="batch"` rows can be seen before the end: in steps of exactly `rows_per_commit` rows, or `seconds_per_commit` after the
    first row that isn't committed, whichever comes first; each step is all or nothing, and one whose connection is lost is loaded
    again. That is for programs that never end. The last, partial step lands at a clean end, which SIGTERM is, too. `max_rejects` counts
    the bad rows of all steps (a share is one of all rows so far), and a path as `rejects` is one file for all of them.

    A writer is for one thread at a time, and for the process that has made it.
    """

    #: What the load did; None until it has ended well, of which nobody has to assure a type checker behind the block.
    report: Report | Any
    _in_steps: bool
    _is_aborted: bool
    #: What the report is to warn of, once each.
    _notes: dict[str, None]
    #: For whoever prints it.
    _where: str
    #: What SIGTERM had done before.
    _old_handler: Any

    @explained
    def __new__(
        cls,
        target: Any,
        *,
        table: str | None = None,
        columns: str | Sequence[str] | Mapping[str, str] | None = None,
        commit: str = "end",
        rows_per_commit: int | None = None,
        seconds_per_commit: float | None = None,
        if_exists: str | None = None,
        match_by: str | None = None,
        on_conflict: str | None = None,
        key: str | Sequence[str] | None = None,
        primary_key: str | Sequence[str] | None = None,
        indexes: str | Sequence[str | Sequence[str]] | None = None,
        types: Mapping[str, str] | str | None = None,
        nulls: str | Sequence[str] | None = None,
        decimal: str | Sequence[str] | None = None,
        thousands: str | Sequence[str] | None = None,
        date_format: str | Sequence[str] | None = None,
        timestamp_format: str | Sequence[str] | None = None,
        true: str | Sequence[str] | None = None,
        false: str | Sequence[str] | None = None,
        time_zone: str | Sequence[str] | None = None,
        trim: bool | str | None = None,
        drop: str | Sequence[str] | None = None,
        rename: Mapping[str, str] | None = None,
        add: Mapping[str, Any] | None = None,
        not_null: str | Sequence[str] | None = None,
        case: str | None = None,
        new_columns: str | None = None,
        missing_columns: str | None = None,
        strategy: str | None = None,
        settings: Mapping[str, Any] | None = None,
        lanes: int | None = None,
        encoders: int | None = None,
        chunk_size: int | str | None = None,
        durability: str | None = None,
        max_rejects: int | str | None = None,
        rejects: Any = None,
        verify: str | None = None,
        duckdb_lib: Any = None,
        progress: bool | Callable[[dict[str, Any]], Any] = True,
    ) -> "Writer":
        if commit not in ("end", "batch"):
            raise UsageError(f"commit: '{commit}' is none of end, batch")
        steps = None
        if commit == "batch":
            if rows_per_commit is None and seconds_per_commit is None:
                rows_per_commit, seconds_per_commit = 100_000, 5.0
            steps = (
                _options.count("rows_per_commit", rows_per_commit),
                _options.seconds("seconds_per_commit", seconds_per_commit),
            )
        elif rows_per_commit is not None or seconds_per_commit is not None:
            raise UsageError('rows_per_commit and seconds_per_commit are for commit="batch"')
        said = _options.request(
            target=target,
            table=table,
            if_exists=if_exists,
            match_by=match_by,
            on_conflict=on_conflict,
            key=key,
            primary_key=primary_key,
            indexes=indexes,
            types=_options.types(types, columns),
            nulls=nulls,
            decimal=decimal,
            thousands=thousands,
            date_format=date_format,
            timestamp_format=timestamp_format,
            true=true,
            false=false,
            time_zone=time_zone,
            trim=trim,
            drop=drop,
            rename=rename,
            add=add,
            not_null=not_null,
            case=case,
            new_columns=new_columns,
            missing_columns=missing_columns,
            strategy=strategy,
            settings=settings,
            lanes=lanes,
            encoders=encoders,
            chunk_size=chunk_size,
            durability=durability,
            max_rejects=max_rejects,
            rejects=rejects,
            verify=verify,
            duckdb_lib=duckdb_lib,
        )
        names = _options.names("columns", [*columns] if isinstance(columns, Mapping) else columns)
        own: list[weakref.ref[Writer]] = []

        def given(row: RejectedRow, floats: Collection[str]) -> RejectedRow:
            writer = own[0]()
            from ._values import as_given

            return row._replace(row=as_given(row.row, writer.first_row if writer else None, floats))

        self = super().__new__(cls, _options.watching(progress, rejects, given), said, names, steps)
        own.append(weakref.ref(self))
        self.report = None
        self._notes = {}
        self._is_aborted = False
        self._where = table or _inrush.shown(os.fspath(target))
        self._in_steps, self._old_handler = steps is not None, None
        _OPEN.add(self)
        return self

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        pass

    def write(self, frame: Any) -> None:
        """Adds the rows of a frame, of anything else that has Arrow's interface, or of a dict of columns; they are copied. Columns are
        found by name, and one that is missing is an error, unless `missing_columns="null"` makes it NULL.
        """
        rows = Rows(frame)
        self.write_frame(*rows.frame(), rows.is_pandas, rows.untyped)
        self._notes.update(dict.fromkeys(rows.notes))

    def commit(self) -> None:
        """Commits the rows so far; of a writer with `commit="batch"` only."""
        if not self._in_steps:
            raise UsageError('a writer commits at its end: make it with commit="batch"')
        self.flush_rows()

    def finish(self) -> Report:
        """Loads what is left, verifies, commits, and says what was done. Again it says the same."""
        if self.report is None:
            _OPEN.discard(self)
            self.report = Report(*self.end(), notes=self._notes)
        return self.report

    def abort(self) -> None:
        """Gives up: nothing is left of the load, or what its steps have committed."""
        self._give_up_for(None)

    def _give_up_for(self, error: BaseException | None) -> None:
        """Gives up, and lets the error that is the reason say what stays."""
        rows = self.give_up()
        self._is_aborted = True
        _OPEN.discard(self)
        if error is not None and rows is not None:
            behind_steps(error, rows)

    def __enter__(self) -> "Writer":
        is_main = threading.current_thread() is threading.main_thread()
        if self._in_steps and is_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            self._old_handler = signal.signal(signal.SIGTERM, _terminate)
        return self

    def __exit__(self, kind: Any, error: Any, _trace: Any) -> None:
        if self._old_handler is not None:
            signal.signal(signal.SIGTERM, self._old_handler)
        if kind is None or isinstance(error, _Terminated):
            if not self._is_aborted:
                self.finish()
        else:
            self._give_up_for(error)

    def __del__(self) -> None:
        # In a child it is its parent's.
        if self in _OPEN and self.is_own and not self.is_over:
            self.give_up()
            _OPEN.discard(self)
            what = f"{self!r} was left without finish() or abort(): what it has not committed is not loaded"
            with warnings.catch_warnings():
                # Python hides these, but here rows are missing.
                warnings.simplefilter("always", ResourceWarning)
                warnings.warn(what, ResourceWarning, stacklevel=2)

    def __repr__(self) -> str:
        return f"<Writer: {self._where}>"

    def __reduce__(self) -> Any:
        raise TypeError("a Writer is a load under way, and can't be copied or sent elsewhere")


class _Terminated(SystemExit):
    """The end of a program that was told to end."""


def _terminate(_number: int, _frame: Any) -> None:
    # As shells report it.
    raise _Terminated(128 + signal.SIGTERM)
