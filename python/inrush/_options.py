"""Keywords, as the extension module takes them."""

from __future__ import annotations

import enum
import numbers
import os
import re
from collections.abc import Collection, Iterable, KeysView, Mapping, Sequence, Set
from typing import Any, Callable

from . import _inrush
from ._errors import RejectedRow, UsageError, rejected

#: Sizes as `--chunk-size` takes them.
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


#: The words of types, where a class of Python is given for one.
_WORDS = {int: "integer", float: "float", str: "text", bool: "boolean", bytes: "bytes"}

#: Nothing is to be seen.
UNWATCHED = (False, None, None, None)


def names(what: str, value: str | Sequence[str] | None) -> list[str] | None:
    """One name, or several."""
    if value is None:
        return None
    if isinstance(value, str):
        return [value]
    return [_name(what, one) for one in _iterable(what, value)]


def _name(what: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    # A whole number has one text, as in the columns of a frame without names; that of None is not meant.
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return str(value)
    raise UsageError(f"{what}: {value!r} is no text: write it as one")


def path(what: str, value: Any) -> str:
    """A path, or a text that says where something is."""
    try:
        named = os.fspath(value)
    except TypeError:
        named = None
    if not isinstance(named, str):
        raise UsageError(f"{what}: {type(value).__name__} is no path and no text of a URL{_hint(value)}")
    return named


#: Where objects of SQLAlchemy have their URL, which is an object, too.
_URLS = (("render_as_string", ""), ("url", "url."), ("engine", "engine.url."), ("get_bind", "get_bind().engine.url."))


def _hint(value: Any) -> str:
    """How a URL of SQLAlchemy is written."""
    if type(value).__module__.partition(".")[0] != "sqlalchemy":
        return ""
    own = next((own for name, own in _URLS if hasattr(value, name)), None)
    return "" if own is None else f": its {own}render_as_string(hide_password=False) is one"


def types(types: Any, columns: Any) -> Any:
    """The types that were said, also those of `columns` as a dict."""
    if not isinstance(columns, Mapping):
        return types
    if isinstance(types, str):
        raise UsageError(f'types: "{types}" is for all columns, and columns= gives types to some: say one of them')
    return {**columns, **(_mapping("types", types) if types is not None else {})}


def _several(what: str, value: Any) -> Iterable[Any]:
    """What may be several of something, and is one where it is a text."""
    return [value] if isinstance(value, str) else _iterable(what, value)


def _iterable(what: str, value: Any) -> Iterable[Any]:
    if not isinstance(value, Iterable) or isinstance(value, bytes):
        raise UsageError(f"{what}: {value!r} is neither a name nor several")
    if isinstance(value, Set) and not isinstance(value, KeysView):
        raise UsageError(f"{what}: a set has no order: write a list")
    return value


def _mapping(what: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{what}: {value!r} is no dict")
    return value


def count(what: str, value: Any, least: int = 1) -> int | None:
    """A whole number of something, where one is said."""
    if value is None:
        return None
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= least:
        if int(value) >= 1 << 63:
            raise UsageError(f"{what}: {value} is more than 2^63 - 1")
        return int(value)
    raise UsageError(f"{what}: {value!r} is no number from {least} on")


def seconds(what: str, value: Any) -> float | None:
    """A time that passes, where one is said."""
    if value is None:
        return None
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 < float(value) < float("inf"):
        return float(value)
    raise UsageError(f"{what}: {value!r} is not a number of seconds above 0")


def text(what: str, value: Any) -> str | None:
    """A text, where one is said."""
    if value is None or isinstance(value, str):
        return value
    raise UsageError(f"{what}: {type(value).__name__} is no text")


def size(value: int | str | None, what: str = "chunk_size") -> int | None:
    """Bytes: a number, or a text such as 256k."""
    if value is None or isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return value if value is None else int(value)
    if not isinstance(value, str):
        raise UsageError(f"{what}: {value!r} is no size such as 256k")
    number, unit = value[:-1], value[-1:].lower()
    try:
        return int(number) * _UNITS[unit] if unit in _UNITS else int(value)
    except ValueError:
        raise UsageError(f"{what}: '{value}' is no size such as 256k") from None


def request(
    *,
    target: Any,
    sources: list[str] | None = None,
    table: str | None = None,
    if_exists: str | None = None,
    match_by: str | None = None,
    on_conflict: str | None = None,
    key: str | Sequence[str] | None = None,
    primary_key: str | Sequence[str] | None = None,
    indexes: str | Sequence[str | Sequence[str]] | None = None,
    types: Mapping[str, str] | str | None = None,
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
    max_expand: int | str | None = None,
    nulls: str | Sequence[str] | None = None,
    format: str | None = None,
    flatten: bool | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    escape: str | None = None,
    empty: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    skip_lines: int | None = None,
    comment: str | None = None,
) -> dict[str, Any]:
    """What was said, and nothing else."""
    constants = {} if add is None else {_before_equals("add", name): _constant(name, value) for name, value in _mapping("add", add).items()}
    said: dict[str, Any] = {
        "sources": sources,
        "target": path("target", target),
        "table": table,
        "if_exists": if_exists,
        "match_by": match_by,
        "on_conflict": on_conflict,
        "key": names("key", key),
        "primary_key": names("primary_key", primary_key),
        "indexes": None if indexes is None else [names("indexes", index) for index in _several("indexes", indexes)],
        "strategy": strategy,
        "knobs": None if settings is None else {name: word(value) for name, value in _mapping("settings", settings).items()},
        "lanes": lanes,
        "encoders": encoders,
        "chunk_bytes": size(chunk_size),
        "durability": durability,
        "guarantee": guarantee,
        "commit_rows": commit_rows,
        "resume": resume,
        "max_rejects": None if max_rejects is None else str(max_rejects),
        "verify": verify,
        "duckdb_lib": None if duckdb_lib is None else path("duckdb_lib", duckdb_lib),
        "profiles": None if profiles is None else path("profiles", profiles),
        "decimal": names("decimal", decimal),
        "thousands": names("thousands", thousands),
        "date_format": names("date_format", date_format),
        "timestamp_format": names("timestamp_format", timestamp_format),
        "true": names("true", true),
        "false": names("false", false),
        "time_zone": names("time_zone", time_zone),
        "trim": ("unquoted" if trim else None) if isinstance(trim, bool) else trim,
        "columns": names("columns", columns),
        "drop": names("drop", drop),
        "rename": None
        if rename is None
        else [f"{_before_equals('rename', old)}={_name('rename', new)}" for old, new in _mapping("rename", rename).items()],
        "add": None if add is None else [f"{name}={text}" for name, (text, _) in constants.items()],
        "added_types": {name: type for name, (_, type) in constants.items() if type is not None} or None,
        "not_null": names("not_null", not_null),
        "case": case,
        "new_columns": new_columns,
        "missing_columns": missing_columns,
        "max_expand": size(max_expand, "max_expand"),
        "nulls": names("nulls", nulls),
        "format": format,
        "flatten": flatten,
        "delimiter": delimiter,
        "quote": quote,
        "escape": escape,
        "empty": empty,
        "header": header,
        "encoding": encoding,
        "skip_lines": skip_lines,
        "comment": comment,
    }
    if isinstance(types, str):
        if types not in ("infer", "text"):
            raise UsageError(f"types: '{types}' is none of infer, text, and no dict of columns and types")
        said["all_text"] = types == "text"
    elif types is not None:
        said["types"] = {name: _type(name, given) for name, given in _mapping("types", types).items()}
    if isinstance(rejects, (str, os.PathLike)):
        said["rejects"] = os.fspath(rejects)
    elif rejects is not None:
        said["rejects_told"] = True
    return {name: value for name, value in said.items() if value is not None}


#: All options.
KNOWN = frozenset(request.__kwdefaults__ or ()) - {"sources"}

#: Those that say how files are written and read.
OF_FILES = frozenset(
    (
        *("format", "flatten", "delimiter", "quote", "escape", "empty", "header", "encoding", "skip_lines", "comment"),
        *("max_expand", "nulls"),
        *("decimal", "thousands", "date_format", "timestamp_format", "true", "false", "time_zone", "trim"),
        *("columns", "drop", "rename", "add", "not_null", "case", "new_columns", "missing_columns"),
    )
)


#: What pandas, Polars, drivers of databases and the command call an option: the keyword that it is here, or what to do instead.
ELSEWHERE: dict[str, str] = {
    "batch_size": "leave it out: memory is bounded, however many rows there are",
    "chunksize": "leave it out: memory is bounded, however many rows there are",
    "column_types": "types",
    "comment_char": "comment",
    "comment_prefix": "comment",
    "compression": "leave it out: the file itself says it",
    "con": "target",
    "connection": "target",
    "db_schema_name": 'write table="SCHEMA.TABLE"',
    "dtype": "types",
    "dtypes": "types",
    "engine": "leave it out: the target says it all",
    "engine_options": "leave it out: the target says it all",
    "escape_char": "escape",
    "escapechar": "escape",
    "false_values": "false",
    "has_header": "header",
    "if_table_exists": "if_exists",
    "index": "leave it out: a pandas index is a column where it has a name; indexes=[...] are those of the table",
    "index_label": "leave it out: frame.rename_axis(...) gives a pandas index a name, with which it is a column",
    "match": "match_by",
    "method": "leave it out: rows go the fastest way that the database has",
    "mode": "if_exists",
    "na_values": "nulls",
    "name": "table",
    "null": "nulls",
    "null_values": "nulls",
    "parse_dates": "types",
    "quote_char": "quote",
    "quotechar": "quote",
    "schema": 'write table="SCHEMA.TABLE"; types={"COLUMN": "TYPE"} says what columns are',
    "schema_overrides": "types",
    "sep": "delimiter",
    "separator": "delimiter",
    "set": "settings",
    "skip_rows": "skip_lines",
    "skiprows": "skip_lines",
    "table_name": "table",
    "true_values": "true",
    "type": "types",
    "usecols": "columns",
}


def unexpected(function: str, name: str, known: Collection[str]) -> TypeError:
    """A keyword that a function does not have, in Python's own words; and what it is called here, where that is known."""
    what = f"{function}() got an unexpected keyword argument '{name}'"
    said = ELSEWHERE.get(name, "")
    if said.isidentifier():
        said = f"it is {said}= here" if said in known else ""
    return TypeError(f"{what}: {said}" if said else what)


def _before_equals(what: str, name: Any) -> str:
    """The name of a column in front of a `=`, and so one without."""
    named = _name(what, name)
    if "=" in named:
        raise UsageError(f"{what}: {named!r}: a name with = in it can't be said here: rename the column before")
    return named


def _type(name: Any, given: Any) -> str:
    """The type of a column, in a word."""
    if isinstance(given, str):
        return given
    said = _WORDS.get(given) if isinstance(given, type) else None
    hint = f'write "{said}"' if said else 'write a word such as "integer", "decimal(10,2)" or "timestamp"'
    raise UsageError(f"types: {name}: {given!r} is no name of a type: {hint}")


def word(value: Any) -> str:
    """A value as the command has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _constant(name: str, value: Any) -> tuple[str, str | None]:
    """The value of a column that is the same in all rows: the text that it has in a row, and its type where the text does not say it."""
    try:
        constant = _inrush.constant(value)
    except (TypeError, ValueError) as error:
        raise UsageError(f"add: {name}: {error}") from error
    if constant is None or not constant[0]:
        raise UsageError(f"add: {name}: {value!r} has no text that could stand in a file")
    text, type = constant
    own = value
    while isinstance(own, enum.Enum):
        own = own.value
    if not isinstance(own, str):
        # Only a text of the program stands for something else.
        return text.replace("%", "%%"), type
    # The load would say it in words of the command, whatever else the value has.
    wrong = None if text in _STANDS_FOR else re.search("%.{,9}", text.replace("%%", ""))
    if wrong is not None:
        raise UsageError(
            f"add: {name}: {value!r}: '{wrong[0]}' is none of {', '.join(_STANDS_FOR)}: "
            "these stand alone; a percent sign in a text is written %%"
        )
    return text, type


#: What a text of `add` may be that stands for something else.
_STANDS_FOR = ("%file", "%path", "%row", "%now")


def watching(
    progress: bool | Callable[[dict[str, Any]], Any],
    rejects: Any,
    as_given: Callable[[RejectedRow, Collection[str]], RejectedRow],
) -> tuple[bool, Any, Any, Any]:
    """What is to be seen of a load: a bar, a callback, where bad rows go that go to no file, and what is made of them."""
    tell: Any = None
    if isinstance(rejects, list):
        tell = rejects.append
    elif callable(rejects):
        tell = rejects
    elif rejects is not None and not isinstance(rejects, (str, os.PathLike)):
        raise UsageError("rejects: say a path, a list or a callback")

    def given(told: str, floats: Collection[str]) -> RejectedRow:
        return as_given(rejected(told), floats)

    if not (callable(progress) or isinstance(progress, bool) or progress is None):
        raise UsageError(f"progress: {progress!r} is neither True nor False nor a callback")
    if callable(progress):
        return (False, progress, tell, given)
    return (bool(progress), None, tell, given)
