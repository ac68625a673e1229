"""Files and rows into databases, in one call."""

from __future__ import annotations

import datetime
import functools
import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, MappingView, Sequence, Set
from typing import Any, Callable, TypeVar, cast

from . import _inrush, _options
from ._errors import RejectedRow, UsageError
from ._result import Check, Plan, Report


def _sources(source: Any) -> list[str]:
    if isinstance(source, (str, os.PathLike)):
        return [os.fspath(source)]
    if hasattr(source, "read"):
        # Its lines are no paths.
        name = getattr(source, "name", None)
        hint = f': say its name, "{name}"' if isinstance(name, str) else ""
        raise UsageError(f"this is for names of files, and a {type(source).__name__} is an open one{hint}")
    # A frame of pandas is an iterable of its columns' names.
    is_rows = _is_arrow(source) or hasattr(source, "columns") or isinstance(source, Mapping) or not isinstance(source, Iterable)
    sources = [] if is_rows else [*source]
    if is_rows or not all(isinstance(one, (str, os.PathLike)) for one in sources):
        raise UsageError(f"this is for files, and a {type(source).__name__} is none: write() loads rows of the program")
    return [os.fspath(one) for one in sources]


_Function = TypeVar("_Function", bound=Callable[..., Any])


def explained(function: _Function) -> _Function:
    """The function, which says of another library's keywords what they are called here."""
    code = function.__code__
    known = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])

    @functools.wraps(function)
    def called(*args: Any, **keywords: Any) -> Any:
        for name in keywords:
            # Of any other Python knows best which one is meant.
            if name not in known and name in _options.ELSEWHERE:
                raise _options.unexpected(function.__qualname__, name, known)
        return function(*args, **keywords)

    return cast(_Function, called)


def _same(row: RejectedRow, _floats: Collection[str]) -> RejectedRow:
    return row


@explained
def load(
    source: Any,
    target: Any,
    *,
    table: str | None = None,
    if_exists: str | None = None,
    match_by: str | None = None,
    on_conflict: str | None = None,
    key: str | Sequence[str] | None = None,
    primary_key: str | Sequence[str] | None = None,
    indexes: str | Sequence[str | Sequence[str]] | None = None,
    types: Mapping[str, str] | str | None = None,
    format: str | None = None,
    flatten: bool | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    escape: str | None = None,
    empty: str | None = None,
    header: bool | None = None,
    nulls: str | Sequence[str] | None = None,
    decimal: str | Sequence[str] | None = None,
    thousands: str | Sequence[str] | None = None,
    date_format: str | Sequence[str] | None = None,
    timestamp_format: str | Sequence[str] | None = None,
    true: str | Sequence[str] | None = None,
    false: str | Sequence[str] | None = None,
    time_zone: str | Sequence[str] | None = None,
    trim: bool | str | None = None,
    columns: str | Sequence[str] | None = None,
    drop: str | Sequence[str] | None = None,
    rename: Mapping[str, str] | None = None,
    add: Mapping[str, Any] | None = None,
    not_null: str | Sequence[str] | None = None,
    case: str | None = None,
    new_columns: str | None = None,
    missing_columns: str | None = None,
    encoding: str | None = None,
    skip_lines: int | None = None,
    comment: str | None = None,
    max_expand: int | str | None = None,
    strategy: str | None = None,
    settings: Mapping[str, Any] | None = None,
    lanes: int | None = None,
    encoders: int | None = None,
    chunk_size: int | str | None = None,
    durability: str | None = None,
    guarantee: str | None = None,
    commit_rows: int | None = None,
    resume: bool | None = None,
    max_rejects: int | str | None = None,
    rejects: Any = None,
    verify: str | None = None,
    duckdb_lib: Any = None,
    profiles: Any = None,
    progress: bool | Callable[[dict[str, Any]], Any] = True,
) -> Report:
    """Loads one or more files into a table.

    The keywords are the options of `inrush load`, and mean the same; see docs/options.md. `rejects` may also be a list, or is called
    with each bad row; `quote="none"` and `escape="none"` say that there is none, and `profiles="none"` goes by nothing that was measured.

    Raises a child of `Error` when the load did not happen, or not whole.

    >>> import inrush, tempfile, os
    >>> folder = tempfile.mkdtemp()
    >>> source = os.path.join(folder, "people.csv")
    >>> _ = open(source, "w").write("id,name\\n1,Ada\\n2,Grace\\n")
    >>> inrush.load(source, os.path.join(folder, "people.db")).rows_loaded
    2
    """
    profiles = _profiles(profiles)
    said = _files(source, target, rejects, _given(locals()))
    return Report(*_inrush.load(_options.watching(progress, rejects, _same), said))


@explained
def plan(
    source: Any,
    target: Any,
    *,
    table: str | None = None,
    if_exists: str | None = None,
    match_by: str | None = None,
    on_conflict: str | None = None,
    key: str | Sequence[str] | None = None,
    primary_key: str | Sequence[str] | None = None,
    indexes: str | Sequence[str | Sequence[str]] | None = None,
    types: Mapping[str, str] | str | None = None,
    format: str | None = None,
    flatten: bool | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    escape: str | None = None,
    empty: str | None = None,
    header: bool | None = None,
    nulls: str | Sequence[str] | None = None,
    decimal: str | Sequence[str] | None = None,
    thousands: str | Sequence[str] | None = None,
    date_format: str | Sequence[str] | None = None,
    timestamp_format: str | Sequence[str] | None = None,
    true: str | Sequence[str] | None = None,
    false: str | Sequence[str] | None = None,
    time_zone: str | Sequence[str] | None = None,
    trim: bool | str | None = None,
    columns: str | Sequence[str] | None = None,
    drop: str | Sequence[str] | None = None,
    rename: Mapping[str, str] | None = None,
    add: Mapping[str, Any] | None = None,
    not_null: str | Sequence[str] | None = None,
    case: str | None = None,
    new_columns: str | None = None,
    missing_columns: str | None = None,
    encoding: str | None = None,
    skip_lines: int | None = None,
    comment: str | None = None,
    max_expand: int | str | None = None,
    strategy: str | None = None,
    settings: Mapping[str, Any] | None = None,
    lanes: int | None = None,
    encoders: int | None = None,
    chunk_size: int | str | None = None,
    durability: str | None = None,
    guarantee: str | None = None,
    commit_rows: int | None = None,
    resume: bool | None = None,
    max_rejects: int | str | None = None,
    rejects: Any = None,
    verify: str | None = None,
    duckdb_lib: Any = None,
    profiles: Any = None,
) -> Plan:
    """Decides how files would be loaded, changes nothing, and explains itself: `print(inrush.plan("weather.csv", "weather.db"))`."""
    given = _given(locals())
    options = [_said(name, value) for name, value in given.items()]
    given["profiles"] = _profiles(profiles)
    told, words = _inrush.plan(_options.UNWATCHED, _files(source, target, rejects, given))
    return Plan(told, words, options)


@explained
def check(
    source: Any,
    target: Any = "",
    *,
    table: str | None = None,
    if_exists: str | None = None,
    match_by: str | None = None,
    on_conflict: str | None = None,
    key: str | Sequence[str] | None = None,
    primary_key: str | Sequence[str] | None = None,
    indexes: str | Sequence[str | Sequence[str]] | None = None,
    types: Mapping[str, str] | str | None = None,
    format: str | None = None,
    flatten: bool | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    escape: str | None = None,
    empty: str | None = None,
    header: bool | None = None,
    nulls: str | Sequence[str] | None = None,
    decimal: str | Sequence[str] | None = None,
    thousands: str | Sequence[str] | None = None,
    date_format: str | Sequence[str] | None = None,
    timestamp_format: str | Sequence[str] | None = None,
    true: str | Sequence[str] | None = None,
    false: str | Sequence[str] | None = None,
    time_zone: str | Sequence[str] | None = None,
    trim: bool | str | None = None,
    columns: str | Sequence[str] | None = None,
    drop: str | Sequence[str] | None = None,
    rename: Mapping[str, str] | None = None,
    add: Mapping[str, Any] | None = None,
    not_null: str | Sequence[str] | None = None,
    case: str | None = None,
    new_columns: str | None = None,
    missing_columns: str | None = None,
    encoding: str | None = None,
    skip_lines: int | None = None,
    comment: str | None = None,
    max_expand: int | str | None = None,
    max_rejects: int | str | None = None,
    rejects: Any = None,
    duckdb_lib: Any = None,
    bad_rows: int = 100,
    progress: bool | Callable[[dict[str, Any]], Any] = True,
) -> Check:
    """Reads files as a load would, writes nothing, and tells what is in them: columns, values, and the first `bad_rows` bad rows.

    `rejects` is the path of a file for all of them. Raises a child of `Error` where a file can't be read, or the target would refuse.

    >>> import inrush, tempfile, os
    >>> source = os.path.join(tempfile.mkdtemp(), "people.csv")
    >>> _ = open(source, "w").write("id,name\\n1,Ada\\n2,Grace\\n")
    >>> inrush.check(source).rows_good
    2
    """
    if rejects is not None and not isinstance(rejects, (str, os.PathLike)):
        raise UsageError("rejects: of a check it is a path; what it returns has `bad_rows`, as many as bad_rows= says")
    said = _files(source, target, rejects, _given(locals()))
    shown = _options.count("bad_rows", bad_rows, 0) or 0
    return Check(_inrush.check(_options.watching(progress, None, _same), said, shown))


@explained
def write(
    rows: Any,
    target: Any,
    *,
    table: str | None = None,
    columns: str | Sequence[str] | Mapping[str, str] | None = None,
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
) -> Report:
    """Loads rows of the program into a table: all of them or none.

    `rows` is a frame or a result of Polars, PyArrow, pandas, DuckDB, ADBC or whatever else has Arrow's PyCapsule interface; an iterable
    of dicts, tuples, named tuples, dataclasses or other objects with fields; a dict of columns, each a list of values; or the path of a
    file, as for `load`. `columns` names the values of tuples, and as a dict gives columns types, in the words of `--type`. The other
    keywords are those of `load`.

    An exception that the program's own iterator raises comes out as it is; nothing is loaded then.

    >>> import inrush, tempfile, os
    >>> target = os.path.join(tempfile.mkdtemp(), "shop.db")
    >>> inrush.write([(1, "a"), (2, "b")], target, table="orders", columns=["id", "name"])
    <Report: 2 rows into orders, 0 rejected, ...>
    """
    given = _given(locals())
    given.pop("columns", None)
    if isinstance(rows, (str, os.PathLike)):
        if columns is not None:
            raise UsageError("columns= is for rows of the program; a file names its own")
        return load(rows, target, rejects=rejects, progress=progress, **given)
    source = Rows(rows, columns)
    given["types"] = _options.types(types, columns)
    said = _options.request(target=target, rejects=rejects, **given)
    watching = _options.watching(progress, rejects, source.as_given)
    return Report(*_inrush.write(source.fed(source.names(said)), watching, said), notes=source.notes)


def _given(said: dict[str, Any]) -> dict[str, Any]:
    """The options among the arguments of a function."""
    own = {"source", "rows", "target", "progress", "rejects", "bad_rows"}
    return {name: value for name, value in said.items() if name not in own and value is not None}


def _said(name: str, value: Any) -> dict[str, Any]:
    """An option as `inrush plan --json` has it."""
    if isinstance(value, Mapping):
        values = [f"{one}={_options.word(other)}" for one, other in value.items()]
    elif isinstance(value, (list, tuple)):
        # An index has several columns.
        values = [",".join(map(str, one)) if isinstance(one, (list, tuple)) else str(one) for one in value]
    else:
        values = [_options.word(value)]
    return {"option": name, "values": values, "from": "keyword"}


def _files(source: Any, target: Any, rejects: Any, given: dict[str, Any]) -> dict[str, Any]:
    return _options.request(sources=_sources(source), target=target, rejects=rejects, **given)


def _profiles(named: Any) -> Any:
    """The file of what was measured here, as the command finds it."""
    if named is None:
        return _inrush.default_profiles()
    return None if os.fspath(named) == "none" else named


class Rows:
    """Rows of a program, and what is known of them."""

    def __init__(self, rows: Any, columns: Any = None) -> None:
        self.columns = _options.names("columns", columns)
        #: What a report is to warn of.
        self.notes: list[str] = []
        #: Columns of a frame that have a type and no value: pandas has floats where a file has nothing, and Polars could not write them else.
        self.untyped: list[str] = []
        # Whose child it may be, too.
        modules = {kind.__module__.partition(".")[0] for kind in type(rows).__mro__}
        self.is_pandas = "pandas" in modules
        if self.is_pandas:
            rows = self._pandas(rows)
        elif "polars" in modules:
            rows, self.untyped = _polars(rows)
        elif "numpy" in modules and hasattr(rows, "dtype"):
            rows = self._array(rows)
        elif isinstance(rows, Mapping):
            rows = _Columns(rows)
            if not len(rows) and self.columns is None:
                # No row has their names.
                self.columns = rows.names
        elif not _is_arrow(rows):
            # PyArrow's Dataset is what a Scanner reads.
            scanner = rows.scanner() if "pyarrow" in modules and hasattr(rows, "scanner") else rows
            rows = scanner.to_reader() if "pyarrow" in modules and hasattr(scanner, "to_reader") else self._result(rows)
        elif modules & {"duckdb", "_duckdb"} and hasattr(rows, "types"):
            _refuse_changed(zip(rows.columns, rows.types))
        if not isinstance(rows, Iterable) and not _is_arrow(rows):
            if callable(rows) and not isinstance(rows, type):
                raise UsageError(f"a {type(rows).__name__} has no rows: call it, and write what it returns")
            raise UsageError(f"a {type(rows).__name__} has no rows: write a frame, or an iterable of dicts, tuples or objects")
        if isinstance(rows, (bytes, bytearray)):
            raise UsageError(f"a {type(rows).__name__} is no iterable of rows")
        if isinstance(rows, Sequence) and len(rows) and isinstance(rows[0], (str, os.PathLike)):
            raise UsageError(f"a {type(rows[0]).__name__} is no row: load() reads files, several of them as well")
        if self.columns is not None and _is_arrow(rows):
            raise UsageError("columns= is for rows of Python; a frame names its own")
        self.rows = rows
        #: A reader or a generator is through when it has been read, and so may be whatever wraps one, also if it knows how long it is.
        self.is_replayable = hasattr(rows, "__len__") if _is_arrow(rows) else isinstance(rows, _REPLAYABLE)

    def _pandas(self, frame: Any) -> Any:
        import pandas  # type: ignore[import-untyped, unused-ignore]

        if isinstance(frame, Iterator):
            # Of frames, each of which is refused as a row.
            return frame
        if isinstance(frame, pandas.Index):
            frame = frame.to_frame(index=False)
        if isinstance(frame, pandas.Series):
            frame = frame.to_frame()
        if not isinstance(frame, pandas.DataFrame):
            raise UsageError(f"a {type(frame).__name__} is no frame: write a DataFrame or a Series")
        self.notes = _unnamed_index(frame)
        frame = _with_index(frame)
        frame.columns = [str(name) for name in frame.columns]
        table = _arrow_of(frame)
        if table is not None:
            self.untyped = [name for name, values in zip(table.column_names, table.columns) if 0 < len(values) == values.null_count]
            return table
        self.columns = list(frame.columns)
        return _Tuples(frame)

    def _array(self, array: Any) -> Any:
        if array.ndim != (1 if array.dtype.names else 2):
            raise UsageError(f"an array of {array.ndim} dimensions is no table")
        if array.dtype.names:
            self.columns = self.columns or list(array.dtype.names)
            return list(zip(*(array[name] for name in array.dtype.names)))
        return [tuple(row) for row in array]

    def _result(self, rows: Any) -> Any:
        """What a database's driver has as the answer to a query."""
        is_duckdb = type(rows).__module__.partition(".")[0] in ("duckdb", "_duckdb")
        if is_duckdb and getattr(rows, "description", None):
            _refuse_changed((column[0], column[1]) for column in rows.description)
        elif is_duckdb and hasattr(rows, "execute"):
            raise UsageError(f"a {type(rows).__name__} has no rows before a query: write what its sql(QUERY) or execute(QUERY) returns")
        for fetch in ("fetch_arrow", "to_arrow_reader", "fetch_record_batch"):
            if hasattr(rows, fetch):
                with warnings.catch_warnings():
                    # DuckDB says of each of its calls for these rows which other query the program should have made.
                    warnings.filterwarnings("ignore", "Arrow output on a DB-API result", UserWarning)
                    found = getattr(rows, fetch)()
                if found is None:
                    raise UsageError(f"the rows of the {type(rows).__name__} have been read: a result can be written once")
                return found
        # As PEP 249 has it: the names of tuples.
        description = getattr(rows, "description", None)
        if self.columns is None and hasattr(rows, "fetchone"):
            if description:
                self.columns = [str(column[0]) for column in description]
            elif hasattr(rows, "keys") and getattr(rows, "returns_rows", True):
                # As SQLAlchemy has it.
                self.columns = [str(name) for name in rows.keys()]
        return rows

    def names_or(self, known: Callable[[], list[str] | None]) -> list[str] | None:
        """The columns' names, where the rows have none of their own: those that are known."""
        if _is_arrow(self.rows):
            return self.columns
        first = self._first()
        if self.columns is not None:
            return self.columns
        if type(first) not in (tuple, list):
            return None
        return known()

    def fed(self, names: list[str] | None) -> tuple[Any, list[str] | None, bool, bool]:
        """As the extension module takes them."""
        return (self.rows, names, self.is_replayable, self.is_pandas)

    def frame(self) -> tuple[Any, list[str] | None]:
        """As a writer takes them: what has Arrow's interface, or tuples and the names of their values."""
        return self.rows.tuples() if isinstance(self.rows, _Columns) else (self.rows, self.columns)

    def names(self, said: dict[str, Any]) -> list[str] | None:
        """The columns' names, where the rows have none of their own: those of the table."""
        return self.names_or(lambda: table_columns(said))

    def _first(self) -> Any:
        if isinstance(self.rows, Sequence):
            return self.rows[0] if len(self.rows) else ()
        if self.is_replayable:
            return next(iter(self.rows), ())
        iterator = iter(self.rows)
        try:
            first = next(iterator)
        except StopIteration:
            self.rows = iter(())
            return ()
        self.rows = _Chain(first, iterator)
        return first

    def as_given(self, row: RejectedRow, floats: Collection[str]) -> RejectedRow:
        """A bad row with the row that the program gave; `floats` are the columns of floats."""
        if self.is_replayable and isinstance(self.rows, Sequence):
            return row._replace(row=self.rows[row.position - 1])
        from ._values import as_given

        return row._replace(row=as_given(row.row, getattr(self.rows, "first", None), floats))


def _unnamed_index(frame: Any) -> list[str]:
    """What to say of a pandas frame whose index has no name, and may be more than the numbers of its rows."""
    import pandas

    levels = [level for level, name in enumerate(frame.index.names) if name is None]
    if not levels or isinstance(frame.index, pandas.RangeIndex):
        return []
    which = "the index" if frame.index.nlevels == 1 else f"level {', '.join(map(str, levels))} of the index"
    return [f"{which} has no name and is left out: frame.rename_axis(...) gives it one, with which it is a column, as does reset_index()"]


def _with_index(frame: Any) -> Any:
    """A pandas frame whose index is a column where it has a name: a row's number is none, and what is a column already is one."""
    index, dropped = frame.index, []
    for level, name in enumerate(index.names):
        if name is None:
            dropped.append(level)
        elif list(index.names).count(name) > 1:
            raise UsageError(f"two levels of the index are called '{name}': frame.index.set_names([...]) gives each a name")
        elif name in frame.columns:
            if frame.columns.nlevels > 1:
                joined = "frame.columns = ['_'.join(map(str, name)) for name in frame.columns]"
                raise UsageError(f"both the index and columns of several levels are called '{name}': {joined} gives these one name each")
            if not index.get_level_values(level).equals(frame.set_index(name).index):
                raise UsageError(f"both the index and a column are called '{name}', and they differ")
            dropped.append(level)
    if len(dropped) == index.nlevels:
        return frame.reset_index(drop=True)
    return (frame.droplevel(dropped) if dropped else frame).reset_index()


class _Chain:
    """An iterator of which the first value has been seen."""

    def __init__(self, first: Any, rest: Any) -> None:
        self.first, self._rest, self._begun = first, rest, False

    def __iter__(self) -> Any:
        if not self._begun:
            self._begun = True
            yield self.first
        yield from self._rest


class _Tuples:
    """A pandas frame whose values are looked at one by one."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __len__(self) -> int:
        return len(self._frame)

    def __iter__(self) -> Any:
        return self._frame.itertuples(index=False, name=None)


class _Columns(Sequence[dict[str, Any]]):
    """A dict of columns, as rows by name."""

    def __init__(self, columns: Mapping[Any, Any]) -> None:
        self.names = _options.names("columns", list(columns)) or []
        if not self.names:
            raise UsageError("a dict without columns has no rows")
        self._columns = list(columns.values())
        for name, values in zip(self.names, self._columns):
            is_array = type(values).__module__.partition(".")[0] == "numpy" and getattr(values, "ndim", 0) == 1
            if not (is_array or isinstance(values, Sequence)) or isinstance(values, (str, bytes, bytearray, memoryview)):
                what = f"of a dict of columns each is a list of values, and '{name}' is a {type(values).__name__}"
                raise UsageError(f"{what}: one row is written as [row], and a dict of series as a frame of them")
            if len(values) != len(self._columns[0]):
                raise UsageError(f"column '{self.names[0]}' has {len(self._columns[0])} values, and '{name}' {len(values)}")

    def __len__(self) -> int:
        return len(self._columns[0])

    def __getitem__(self, at: Any) -> Any:
        return {name: values[at] for name, values in zip(self.names, self._columns)}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.names, row)) for row in zip(*self._columns))

    def tuples(self) -> tuple[Iterator[tuple[Any, ...]], list[str]]:
        """The rows without their names, and these."""
        return zip(*self._columns), self.names


#: What gives the same rows whenever it is iterated over.
_REPLAYABLE = (Sequence, Set, MappingView, _Tuples)

#: What a column of pandas' objects may hold to be Arrow's: of other objects, such as dicts, PyArrow makes one type that changes some.
_UNIFORM = {"string", "bytes", "integer", "boolean", "decimal", "empty"}


#: Types of DuckDB that its Arrow interface has as values of another: integers of 39 digits as decimals of 38, a time of day without its
#: zone, bits as the bytes that they are kept in.
_CHANGED = ("uhugeint", "time with time zone", "bit", "variant")

#: Types that are told as what they are where they are a column's own, and within others are bytes without a word.
_CHANGED_WITHIN = (*_CHANGED, "bignum", "varint", "geometry")


def _refuse_changed(columns: Iterable[tuple[str, Any]]) -> None:
    """Refuses columns of DuckDB whose values its Arrow interface would change without a word."""
    for name, type in columns:
        changed = _changed(type)
        if changed is not None:
            quoted = '"' + name.replace('"', '""') + '"'
            what = f"column {name} has values of DuckDB's type {changed}, which its Arrow interface changes"
            raise UsageError(f"{what}: cast it in the query: {quoted}::varchar")


def _changed(type: Any, among: tuple[str, ...] = _CHANGED) -> str | None:
    """The type among those within one of DuckDB that is changed."""
    # Before 1.3 a result says of its columns only what PEP 249 wants to know.
    kind = str(getattr(type, "id", ""))
    if kind in among:
        return kind
    if kind not in ("list", "array", "struct", "map", "union"):
        return None
    found = (_changed(child, _CHANGED_WITHIN) for _, child in type.children if hasattr(child, "id"))
    return next((one for one in found if one is not None), None)


def _polars(frame: Any) -> tuple[Any, list[str]]:
    """A frame of Polars whose columns are all of Arrow's own types; and those that had no type before."""
    if hasattr(frame, "collect"):
        raise UsageError("a LazyFrame has no rows yet: write what its collect() returns")
    import polars  # type: ignore[import-not-found, unused-ignore]

    if hasattr(frame, "to_frame"):
        frame = frame.to_frame()
    untyped = [name for name, dtype in frame.schema.items() if dtype == polars.Null]
    for name, dtype in frame.schema.items():
        if dtype == polars.Object:
            raise UsageError(f"column {name}: no database has a type for objects of Python")
        try:
            frame = _cast(frame, name, _for_arrow(dtype, polars.Decimal(38, 0)))
        except polars.exceptions.PolarsError:
            frame = _cast(frame, name, _for_arrow(dtype, polars.String()))
    return frame, untyped


def _cast(frame: Any, name: str, dtype: Any) -> Any:
    import polars

    return frame if frame.schema[name] == dtype else frame.with_columns(polars.col(name).cast(dtype))


def _for_arrow(dtype: Any, wide: Any) -> Any:
    """A type of Polars with what Arrow has, at any depth: `wide` in place of integers of 128 bits, and texts of nothing but NULL."""
    import polars

    if dtype == polars.Null:
        # Its Arrow form has a buffer that should not be there.
        return polars.String()
    if str(dtype) in ("Int128", "UInt128"):
        return wide
    if isinstance(dtype, polars.Struct):
        return polars.Struct({field.name: _for_arrow(field.dtype, wide) for field in dtype.fields})
    if isinstance(dtype, polars.List):
        return polars.List(_for_arrow(dtype.inner, wide))
    if isinstance(dtype, polars.Array):
        return polars.Array(_for_arrow(dtype.inner, wide), dtype.size)
    return dtype


def _arrow_of(frame: Any) -> Any:
    """A pandas frame as a table of Arrow; None where its values have to be looked at one by one."""
    try:
        import pyarrow  # type: ignore[import-untyped, unused-ignore]

        if not all(_is_uniform(frame.iloc[:, at]) for at in range(frame.shape[1])):
            return None
        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
        for at, field in enumerate(table.schema):
            if pyarrow.types.is_floating(field.type):
                table = table.set_column(at, field, _without_nan(table.column(at)))
        return table
    except Exception:  # noqa: BLE001  PyArrow is missing, or refuses.
        return None


def _is_uniform(values: Any) -> bool:
    """Whether a column of pandas has one type of Arrow's, and all of its values as they are."""
    import pandas

    dtype = values.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        return _is_uniform(dtype.categories)
    if isinstance(dtype, (pandas.PeriodDtype, pandas.IntervalDtype)):
        # What Arrow makes of periods are their numbers, and of intervals their ends, without which of them are part of it.
        return False
    if dtype != object:
        return True
    kind = pandas.api.types.infer_dtype(values, skipna=True)
    # To pandas a moment is a date, too, and a time with a zone is a time: Arrow would cut them.
    if kind == "date":
        return not any(isinstance(value, datetime.datetime) for value in values)
    if kind == "time":
        return all(getattr(value, "tzinfo", None) is None for value in values)
    return kind in _UNIFORM


def _without_nan(column: Any) -> Any:
    """A column of floats with NULL for what is no number: pandas' own columns have both."""
    import pyarrow
    import pyarrow.compute  # type: ignore[import-untyped, unused-ignore]

    is_nan = pyarrow.compute.is_nan(column)
    if not pyarrow.compute.any(is_nan).as_py():
        return column
    return pyarrow.compute.if_else(is_nan, pyarrow.scalar(None, column.type), column)


def _is_arrow(rows: Any) -> bool:
    return hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__")


def table_columns(said: dict[str, Any]) -> list[str] | None:
    """The columns of the existing table, but for those of add=; None where there is none, or where it is to be recreated."""
    if said.get("if_exists") == "replace":
        return None
    return _inrush.table_columns(_options.UNWATCHED, said)
