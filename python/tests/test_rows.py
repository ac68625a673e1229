"""The forms that rows of Python have."""

import collections
import csv
import dataclasses
import datetime as dt
import decimal
import enum
import functools
import io
import itertools
import math
import pathlib
import sqlite3
import types
import typing
import uuid

import pyarrow as pa
import pytest
from conftest import Duckdb, Postgres, Sqlite, assert_same

import inrush

Pair = collections.namedtuple("Pair", "id name")


class Typed(typing.NamedTuple):
    id: int
    name: str


@dataclasses.dataclass
class Data:
    id: int
    name: str


@dataclasses.dataclass(slots=True, frozen=True)
class Slotted:
    id: int
    name: str


class Plain:
    def __init__(self, id, name):
        self.id, self.name = id, name


class Slots:
    __slots__ = ("id", "name")

    def __init__(self, id, name):
        self.id, self.name = id, name


class Child(dict):
    pass


class Kind(enum.Enum):
    ODD = "odd"


FORMS = {
    "tuple": lambda id, name: (id, name),
    "list": lambda id, name: [id, name],
    "dict": lambda id, name: {"id": id, "name": name},
    "dict in another order": lambda id, name: {"name": name, "id": id} if id % 2 else {"id": id, "name": name},
    "child of dict": lambda id, name: Child(id=id, name=name),
    "OrderedDict": lambda id, name: collections.OrderedDict(id=id, name=name),
    "UserDict": lambda id, name: collections.UserDict(id=id, name=name),
    "mapping proxy": lambda id, name: types.MappingProxyType({"id": id, "name": name}),
    "namedtuple": Pair,
    "NamedTuple": Typed,
    "dataclass": Data,
    "dataclass with slots": Slotted,
    "object": Plain,
    "object with slots": Slots,
    "namespace": lambda id, name: types.SimpleNamespace(id=id, name=name),
}
WANTED = [(1, "a"), (2, None), (3, "c")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", ["list", "tuple", "generator", "insert", "insert_many"])
def test_forms(sqlite, form, way):
    rows = [FORMS[form](*row) for row in WANTED]
    columns = ["id", "name"] if form in ("tuple", "list", "dict in another order") else None
    if way in ("insert", "insert_many"):
        with sqlite.writer(columns=columns) as writer:
            if way == "insert":
                for row in rows:
                    writer.insert(row)
            else:
                writer.insert_many(iter(rows))
    else:
        given = {"list": list, "tuple": tuple, "generator": iter}[way](rows)
        sqlite.write(given, columns=columns)
    assert sqlite.read() == (["id", "name"], WANTED)


@pytest.mark.parametrize("make", [set, frozenset, collections.deque, lambda rows: dict.fromkeys(rows).keys()])
def test_iterables(sqlite, make):
    sqlite.write(make(WANTED), columns=["id", "name"])
    assert sorted(sqlite.read()[1]) == WANTED


class Counted:
    """As progress bars wrap what they count."""

    def __init__(self, rows, total):
        self._rows, self._total = rows, total

    def __len__(self):
        return self._total

    def __iter__(self):
        yield from self._rows


@pytest.mark.parametrize("count", [5, 15_000])
def test_no_row_is_lost_of_what_has_a_length_and_is_read_once(sqlite, count):
    sqlite.write(Counted(((number,) for number in range(count)), count), columns=["id"])
    assert sqlite.values("id") == list(range(count))
    sqlite.write(Counted(((number,) for number in range(count)), count), if_exists="replace", columns=["id"])
    sqlite.write(Counted(((number,) for number in range(count)), count), if_exists="append")
    sqlite.write(Counted(({"id": number} for number in range(count)), count), if_exists="append")
    assert sqlite.values("id") == [*range(count)] * 3


def test_cursors_have_names(sqlite):
    connection = sqlite3.connect(":memory:")
    for factory in (None, sqlite3.Row):
        connection.row_factory = factory
        sqlite.write(connection.execute("select 1 as id, 'a' as name"), if_exists="replace")
        assert sqlite.read() == (["id", "name"], [(1, "a")])


def test_a_name_that_a_row_has_twice(sqlite):
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    for rows in (lambda answer: answer, lambda answer: answer.fetchall()):
        with pytest.raises(inrush.UsageError, match="row 1 has several values called id"):
            sqlite.write(rows(connection.execute("select 1 as id, 2 as id, 3 as x")))
    connection.row_factory = None
    sqlite.write(connection.execute("select 1 as id, 2 as id"))
    assert sqlite.read() == (["id", "id_2"], [(1, 2)])


def test_an_answer_of_sqlalchemy_without_rows_has_columns(sqlite):
    sqlalchemy = pytest.importorskip("sqlalchemy")
    with sqlalchemy.create_engine("sqlite://").connect() as connection:
        assert sqlite.write(connection.execute(sqlalchemy.text("select 1 as id, 'a' as name where 0"))).rows_loaded == 0
    assert sqlite.read() == (["id", "name"], [])


def test_names_without_an_order_are_refused(sqlite):
    with pytest.raises(inrush.UsageError, match="columns: a set has no order: write a list"):
        sqlite.write([(1, 2)], columns={"a", "b"})
    sqlite.write([(1, 2)], columns={"a": None, "b": None}.keys())
    assert sqlite.read() == (["a", "b"], [(1, 2)])


def test_a_decimal_of_which_nobody_has_the_digits_is_a_bad_row(database):
    rows = [(decimal.Decimal("1E+999999999"),), (decimal.Decimal("1E-999999999"),), (decimal.Decimal("1.5"),)]
    bad = []
    database.write(rows, columns={"n": "decimal(10,2)"}, max_rejects="all", rejects=bad)
    assert [float(n) for n in database.values("n")] == [1.5] and len(bad) == 2


MOMENT, DAY = dt.datetime(2020, 1, 1, 12), dt.date(2020, 1, 1)


@pytest.mark.parametrize("before", ["2020-01-01 00:00+00", 7, decimal.Decimal("1.5"), b"x", True, None])
def test_a_moment_without_a_zone_is_none_of_the_session_s_beside_other_values(database, before):
    if not isinstance(database, Postgres):
        pytest.skip("a question of the zone of the session")
    database.execute(f"create table {database.table} (id int, at timestamptz)")
    rows = [(0, before), (1, MOMENT), (2, DAY), (3, MOMENT.replace(tzinfo=dt.timezone.utc))]
    bad = []
    database.write(rows, columns=["id", "at"], if_exists="append", max_rejects="all", rejects=bad)
    assert {1, 2} <= {row.row[0] for row in bad}
    assert database.values("id")[-1] == 3


@pytest.mark.parametrize("turned", [False, True])
def test_bytes_are_made_of_bytes_and_texts_alone(sqlite, turned):
    """Whatever stands beside them."""
    other = [12345, True, 1.5, DAY, MOMENT, decimal.Decimal("1.5"), uuid.UUID(int=5), dt.time(1), dt.timedelta(1), {"a": 1}, 2**70]
    rows = list(enumerate([b"\x89PNG", *other, "text", None, b"z"]))
    good = [0, len(other) + 1, len(other) + 2, len(other) + 3]
    sqlite.execute(f"create table {sqlite.table} (id int, photo blob)")
    bad = []
    rows = rows[::-1] if turned else rows
    sqlite.write(rows, columns=["id", "photo"], if_exists="append", max_rejects="all", rejects=bad)
    assert sorted(sqlite.values("id")) == good
    assert sorted(row.row[0] for row in bad) == list(range(1, len(other) + 1))
    assert set(sqlite.values("photo")) == {b"\x89PNG", b"text", None, b"z"}


def test_rows_of_sqlalchemy(sqlite):
    sqlalchemy = pytest.importorskip("sqlalchemy")
    query = sqlalchemy.text("select 1 as id, 'a' as name")
    with sqlalchemy.create_engine("sqlite://").connect() as connection:
        for rows in (connection.execute(query), connection.execute(query).all(), connection.execute(query).mappings()):
            sqlite.write(rows, if_exists="replace")
            assert sqlite.read() == (["id", "name"], [(1, "a")])


def test_what_is_no_row(sqlite):
    for rows in ([1, 2], ["ab"], [None], [object()], [b"ab"], [()], [{}], [{1: 2}], 5, b"abc", {"a": 1}, None):
        with pytest.raises(inrush.UsageError):
            sqlite.write(rows)
        assert not sqlite.exists()


@pytest.mark.parametrize("row", [{1, 2}, frozenset({1, 2}), iter([1, 2]), (one for one in (1, 2)), range(2), {1: 2}.values()])
def test_a_row_of_values_without_a_form_says_how_to_make_one(sqlite, row):
    """A set has no order, and what is read once may have been: neither becomes a row by itself."""
    name = type(row).__name__
    advice = "a set has no order: make a tuple" if isinstance(row, (set, frozenset)) else r"make a list of its values: list\(row\)"
    columns = ["a", "b"]
    for write in (sqlite.write, lambda rows, columns: insert_many(sqlite, columns=columns)(rows)):
        for rows in ([row], iter([row])):
            with pytest.raises(inrush.UsageError, match=f"row 1 is a {name}, and a row is a tuple, .*; {advice}"):
                write(rows, columns=columns)
        with pytest.raises(inrush.UsageError, match=f"row 2 is a {name}, and those before are tuples or lists; {advice}"):
            write([(1, 2), row], columns=columns)
    with pytest.raises(inrush.UsageError, match=f"row 3 is a {name}, and a row is"), sqlite.writer() as rows:
        rows.write({"a": [1, 2], "b": [3, 4]})
        rows.insert(row)
    assert not sqlite.exists()


def test_a_generator_s_function_is_to_be_called(sqlite):
    def rows():
        yield (1, 2)

    with pytest.raises(inrush.UsageError, match="a function has no rows: call it, and write what it returns"):
        sqlite.write(rows, columns=["a", "b"])
    sqlite.write(rows(), columns=["a", "b"])
    assert sqlite.read()[1] == [(1, 2)]


def test_rows_of_several_forms(sqlite):
    for rows, column in [([{"a": 1}, (1,)], None), ([(1,), {"a": 1}], ["a"]), ([(1,), 5], ["a"]), ([(1,), "b"], ["a"])]:
        with pytest.raises(inrush.UsageError, match="row 2 is a"):
            sqlite.write(rows, columns=column)
    with pytest.raises(inrush.UsageError, match="row 2, column name: .*no attribute"):
        sqlite.write([Data(1, "a"), types.SimpleNamespace(id=1)])
    assert not sqlite.exists()


@pytest.mark.parametrize("first", [Plain(1, "a"), Data(1, "a"), Slots(1, "a")])
@pytest.mark.parametrize("second", [{"id": 2, "name": "b"}, (2, "b"), Pair(2, "b"), [2, "b"], None, 5, "ab", Plain])
def test_what_is_no_object_behind_one(sqlite, first, second):
    """Any value has attributes: these are no row of NULLs."""
    for write in (sqlite.write, insert_many(sqlite)):
        with pytest.raises(inrush.UsageError, match="row 2 is a .*, and those before are objects with fields"):
            write([first, second])
    assert not sqlite.exists()


def insert_many(place, **options):
    def write(rows):
        with place.writer(**options) as writer:
            writer.insert_many(rows)

    return write


def test_a_property_that_fails_is_no_missing_field(sqlite):
    class Lazy:
        def __init__(self, **fields):
            self.__dict__.update(fields)

        @functools.cached_property
        def name(self):
            return self.nothing

    with pytest.raises(inrush.UsageError, match="row 2, column name: .*nothing"):
        sqlite.write([Lazy(id=1, name="a"), Lazy(id=2)])
    assert not sqlite.exists()


def test_fields_that_no_column_takes_can_be_left_out(sqlite):
    rows = [with_fields(Wide(), a=1, _state=object())]
    with pytest.raises(inrush.UsageError, match=r"row 1, column _state: .*columns=\[...\]"):
        sqlite.write(rows)
    sqlite.write(rows, columns=["a"])
    assert sqlite.read() == (["a"], [(1,)])


def test_named_tuples_have_the_same_fields(sqlite):
    Other = collections.namedtuple("Other", "name id")
    for columns in (None, ["id", "name"]):
        with pytest.raises(inrush.UsageError, match="row 2 has the fields .*name.*id"):
            sqlite.write([Pair(1, "a"), Other("b", 2)], columns=columns)
    assert not sqlite.exists()
    sqlite.write([Pair(1, "a"), Typed(2, "b"), (3, "c")])
    assert sqlite.read() == (["id", "name"], [(1, "a"), (2, "b"), (3, "c")])


@pytest.mark.parametrize("columns", [["name", "id"], {"name": "text", "id": "integer"}])
def test_named_tuples_with_the_names_of_columns_go_by_name(sqlite, columns):
    """Whatever their order: values went into each other's columns."""
    rejects = []
    for rows in ([Pair(1, "a"), ("b", 2), Pair(3, "c")], iter([Pair(1, "a"), ("b", 2), Pair(3, "c")])):
        sqlite.write(rows, columns=columns, if_exists="replace")
        assert sqlite.read() == (["name", "id"], [("a", 1), ("b", 2), ("c", 3)])
    with sqlite.writer(columns=columns, if_exists="replace", max_rejects=1, rejects=rejects, not_null="name") as rows:
        rows.insert(Pair(1, "a"))
        rows.insert_many([("b", 2), Pair(3, "c"), Pair(4, None)])
    assert sqlite.read() == (["name", "id"], [("a", 1), ("b", 2), ("c", 3)])
    assert [bad.row for bad in rejects] == [Pair(4, None)]
    # Late ones too, which are looked at before they are written.
    sqlite.write([*([Pair(None, "a")] * 12_000), Pair(7, "b")], columns=[*columns], if_exists="replace")
    assert sqlite.read()[1][-1] == ("b", 7)


def test_named_tuples_with_other_names_are_renamed_by_columns_alone(sqlite):
    sqlite.write([Pair(1, "a")], columns=["number", "title"])
    assert sqlite.read() == (["number", "title"], [(1, "a")])


def test_named_tuples_behind_a_frame_go_by_name(sqlite):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"name": ["a"], "id": [1]})
    with sqlite.writer() as rows:
        rows.write(frame)
        rows.insert(Pair(2, "b"))
        rows.insert_many([Typed(3, "c"), ("d", 4)])
    assert sqlite.read() == (["name", "id"], [("a", 1), ("b", 2), ("c", 3), ("d", 4)])
    with pytest.raises(inrush.UsageError, match="has the fields .*, and the frame before has the columns name, id"), sqlite.writer(if_exists="append") as rows:
        rows.write(frame)
        rows.insert(collections.namedtuple("Other", "name key")("b", 2))


def test_a_frame_is_no_row(sqlite):
    """One after the other they go by a writer."""
    polars, pandas, arrow = (pytest.importorskip(name) for name in ("polars", "pandas", "pyarrow"))
    for make in (lambda: polars.DataFrame({"a": [1, 2]}), lambda: pandas.DataFrame({"a": [1, 2]}), lambda: arrow.table({"a": [1, 2]})):
        for write in (sqlite.write, insert_many(sqlite)):
            for rows in ([make()], iter([make()])):
                with pytest.raises(inrush.UsageError, match="is no row.*rows.write"):
                    write(rows)
        assert not sqlite.exists()
        with sqlite.writer() as rows:
            for frame in (make(), make()):
                rows.write(frame)
        assert sqlite.values("a") == [1, 2, 1, 2]
        sqlite.execute("drop table t")
    chunks = pandas.read_csv(io.StringIO("a\n1\n2\n3\n"), chunksize=2)
    with pytest.raises(inrush.UsageError, match="a DataFrame is no row"):
        sqlite.write(chunks)
    frame = pandas.DataFrame({"a": [1, 2]})
    for wrong in (frame.groupby("a"), pandas.Categorical(["a"]), pandas.array([1], dtype="Int64"), pandas.Timestamp(0)):
        with pytest.raises(inrush.UsageError, match="is no frame"):
            sqlite.write(wrong)


@pytest.mark.parametrize("first", ["a,b\n1,\n2,\n", 'Int64', "datetime64[ns]"])
def test_a_column_of_pandas_without_a_value_waits_for_one(sqlite, first):
    """pandas has floats where a chunk of a file has nothing."""
    pandas = pytest.importorskip("pandas")
    chunks = [*pandas.read_csv(io.StringIO("a,b\n1,\n2,\n3,x\n4,y\n"), chunksize=2)]
    if first in ("Int64", "datetime64[ns]"):
        chunks[0]["b"] = pandas.Series([None, None], dtype=first, index=chunks[0].index)
    with sqlite.writer() as rows:
        for chunk in chunks:
            rows.write(chunk)
    assert sqlite.read()[1] == [(1, None), (2, None), (3, "x"), (4, "y")]
    # Where none comes, its type is what pandas has.
    with sqlite.writer(if_exists="replace") as rows:
        rows.write(chunks[0])
        rows.write(chunks[0])
    declared = {"Int64": "INTEGER", "datetime64[ns]": "TIMESTAMP"}.get(first, "REAL")
    with sqlite.connect() as connection:
        assert [column[2] for column in connection.execute("pragma table_info(t)")][1] == declared
    with pytest.raises(inrush.RejectedRows, match="'x' is not a number"), sqlite.writer(if_exists="replace", types={"b": "float"}) as rows:
        rows.write(chunks[0])
        rows.write(chunks[1])


def test_a_dataset_has_the_rows_of_its_files(sqlite, tmp_path):
    arrow, dataset = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.dataset")
    dataset.write_dataset(arrow.table({"a": [1, 2]}), tmp_path / "rows", format="parquet")
    rows = dataset.dataset(tmp_path / "rows")
    sqlite.write(rows)
    with sqlite.writer(if_exists="append") as writer:
        writer.write(rows.scanner(filter=dataset.field("a") > 1))
    assert sqlite.values("a") == [1, 2, 2]


@pytest.mark.parametrize("name", ["batch", "Batch"])
def test_tuples_have_no_value_for_an_added_column(sqlite, name):
    """Wherever in the table it is."""
    sqlite.execute("create table t (id integer, batch text, name text)")
    sqlite.write([(1, "a")], add={name: "x"}, if_exists="append", case="ignore")
    with sqlite.writer(add={name: "y"}, if_exists="append", case="ignore") as rows:
        rows.insert((2, "b"))
    with sqlite.writer(add={name: "z"}, if_exists="append", case="ignore"):
        pass
    assert sqlite.read()[1] == [(1, "x", "a"), (2, "y", "b")]
    with pytest.raises(inrush.UsageError, match="row 1 has 3 values, and there are 2 columns"):
        sqlite.write([(1, "a", "b")], add={name: "x"}, if_exists="append", case="ignore")


def test_wrong_counts(sqlite):
    for row in ((1,), (1, 2, 3), [], [1, 2, 3]):
        with pytest.raises(inrush.UsageError, match=f"row 3 has {len(row)} values, and there are 2 columns"):
            sqlite.write([(1, 2), (1, 2), row], columns=["a", "b"])
    assert not sqlite.exists()


def test_tuples_need_names(sqlite):
    with pytest.raises(inrush.UsageError, match=r"columns=\[...\]"):
        sqlite.write([(1, 2)])
    with pytest.raises(inrush.UsageError, match=r"columns=\[...\]"), sqlite.writer() as rows:
        rows.insert((1, 2))


def test_keys_of_later_rows(sqlite):
    """As long as types are told from the first rows, a new key is a new column; behind them, or in a writer, it is a mistake."""
    sqlite.write([{"a": 1}, {"b": 2}, {"a": None, "b": 3}])
    assert sqlite.read() == (["a", "b"], [(1, None), (None, 2), (None, 3)])
    rows = ({"a": 1} if number < 30_000 else {"a": 1, "late": 2} for number in range(30_001))
    with pytest.raises(inrush.UsageError, match="row 30001 has a key 'late'"):
        sqlite.write(rows, if_exists="replace")
    assert sqlite.count() == 3
    with pytest.raises(inrush.UsageError, match="row 2 has a key 'b'"), sqlite.writer(if_exists="replace") as writer:
        writer.insert({"a": 1})
        writer.insert({"b": 1})
    assert sqlite.count() == 3
    with pytest.raises(inrush.UsageError, match="row 1 has a key 'c'"):
        sqlite.write([{"a": 1, "c": 1}], columns=["a", "b"], if_exists="replace")


def test_a_list_is_looked_at_as_a_whole(sqlite):
    """What a program can iterate over again, behind the rows that types are told from."""
    first = [{"a": number, "n": None, "d": number} for number in range(12_000)]
    last = {"a": 1, "n": 5, "d": decimal.Decimal("0.12345678901234567890"), "late": "x"}
    for rows in ([*first, last], (*first, last), {id(row): row for row in [*first, last]}.values()):
        report = sqlite.write(rows, if_exists="replace")
        assert {column["name"]: column["type"] for column in report.plan.columns}["n"] == "integer"
        names, kept = sqlite.read()
        assert names == ["a", "n", "d", "late"]
        assert kept[-1][:2] + kept[-1][3:] == (1, 5, "x") and decimal.Decimal(kept[-1][2]) == last["d"]
        assert kept[0][:2] + kept[0][3:] == (0, None, None)
    sqlite.execute("create table u (a integer, late text)")
    sqlite.table = "u"
    sqlite.write([{"a": 1}] * 12_000 + [{"a": 2, "late": "x"}], if_exists="append")
    assert sqlite.read()[1][-1] == (2, "x")


class Base:
    __slots__ = ("a",)


class Slim(Base):
    __slots__ = ("b", "__weakref__")


class Wide(Slim):
    pass


class Hidden:
    __slots__ = "__own"

    def __init__(self, own):
        self.__own = own


def with_fields(made, **fields):
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def test_objects_keep_all_their_fields(sqlite):
    sqlite.write([with_fields(Slim(), a=1, b=2)])
    assert sqlite.read() == (["a", "b"], [(1, 2)])
    sqlite.write([with_fields(Wide(), a=1, b=2, c=3)], if_exists="replace")
    assert sqlite.read() == (["a", "b", "c"], [(1, 2, 3)])
    sqlite.write([Hidden(5)], if_exists="replace")
    assert sqlite.read()[1] == [(5,)]


def test_objects_with_fields_of_their_own(sqlite):
    """As dicts: a new field is a column, and one that an object lacks is NULL."""
    space = types.SimpleNamespace
    sqlite.write([space(a=1), space(a=2, b=3), space(b=4)])
    assert sqlite.read() == (["a", "b"], [(1, None), (2, 3), (None, 4)])
    late = [space(a=1)] * 12_000 + [space(a=2, b=3)]
    assert sqlite.write(late, if_exists="replace").rows_loaded == 12_001
    assert sqlite.read()[1][-1] == (2, 3)
    with pytest.raises(inrush.UsageError, match="row 12001 has a field 'b'"):
        sqlite.write(iter(late), if_exists="replace")
    with pytest.raises(inrush.UsageError, match="row 2 has a field 'b'"), sqlite.writer(if_exists="replace") as writer:
        writer.insert(space(a=1))
        writer.insert(space(a=2, b=3))
    # What was not asked for is left alone, and what was has to be there.
    sqlite.write([space(a=1, b=2)], columns=["a"], if_exists="replace")
    assert sqlite.read() == (["a"], [(1,)])
    with pytest.raises(inrush.UsageError, match="row 1, column c"):
        sqlite.write([space(a=1)], columns=["a", "c"], if_exists="replace")


def test_fields_of_dataclasses_are_those_of_their_rows(sqlite):
    @dataclasses.dataclass
    class Counted:
        id: int
        seed: dataclasses.InitVar[int]
        made: typing.ClassVar[int] = 5

        def __post_init__(self, seed):
            self.id += seed

    sqlite.write([Counted(1, 2)])
    assert sqlite.read() == (["id"], [(3,)])


def test_one_name_is_one_name(sqlite):
    """Wherever several may stand, and not its letters."""
    sqlite.write([(1,)], columns="id")
    assert sqlite.read() == (["id"], [(1,)])
    sqlite.write([{"id": 1, "name": "NA"}], indexes="id", nulls="NA", if_exists="replace")
    connection = sqlite.connect()
    assert connection.execute("select count(*) from pragma_index_list('t')").fetchone() == (1,)
    connection.close()
    assert sqlite.values("name") == [None]
    with sqlite.writer(columns="id", indexes="id", if_exists="replace") as rows:
        rows.insert((1,))
    assert sqlite.read() == (["id"], [(1,)])


def test_added_columns_are_texts_as_rows_have_them(sqlite):
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    values = {
        "moment": pandas.Timestamp("2024-01-01 00:00:00.000000001"),
        "instant": dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc),
        "took": dt.timedelta(days=1, seconds=3),
        "span": pandas.Timedelta("1ns"),
        "scalar": numpy.datetime64("2024-01-01T00:00:00.000000001"),
        "kind": Kind.ODD,
    }
    sqlite.write([{"id": 1}], add=values)
    (added,) = sqlite.read()[1]
    sqlite.write([{"id": 1, **{name: inrush._inrush.constant(value)[0] for name, value in values.items()}}], if_exists="replace")
    assert (added,) == tuple(sqlite.read()[1])
    assert added[1:5] == ("2024-01-01 00:00:00.000000001", "2024-01-01 00:00:00+00:00", "PT86403S", "PT0.000000001S")
    with pytest.raises(inrush.UsageError, match="add: x: no database has a type"):
        sqlite.write([{"id": 1}], add={"x": object()}, if_exists="replace")


def test_percent_signs_of_added_values(sqlite):
    """Only those of a text are a pattern."""
    values = {"d": {"a": "100% cotton", "b": "%%"}, "l": ["%row"], "p": pathlib.PurePosixPath("/a/%%b/%row"), "t": "5%% off", "n": "%row"}
    sqlite.write([{"a": 1}], add=values)
    assert sqlite.read()[1] == [(1, '{"a":"100% cotton","b":"%%"}', '["%row"]', "/a/%%b/%row", "5% off", 1)]
    for text, wrong in (("100% cotton", "% cotton"), ("it's 5 %", "%"), ("%rows of --add x=1", "%rows of -")):
        with pytest.raises(inrush.UsageError) as caught:
            sqlite.write([{"a": 1}], add={"meta": text}, if_exists="replace")
        assert f"add: meta: {text!r}: '{wrong}' is none of %file, %path, %row, %now" in str(caught.value)
    sqlite.write([{"a": 1}], add={"meta": "100%% cotton"}, if_exists="replace")
    assert sqlite.values("meta") == ["100% cotton"]


def test_added_columns_have_values(sqlite):
    sqlite.write([{"a": 1}], add={"t": True, "n": 1.5, "d": dt.date(2024, 1, 1), "j": {"a": [1]}})
    (row,) = sqlite.read()[1]
    assert row == (1, 1, 1.5, "2024-01-01", '{"a":[1]}')
    for value in (None, b"\xff", ""):
        with pytest.raises(inrush.UsageError, match="add: x"):
            sqlite.write([{"a": 1}], add={"x": value}, if_exists="replace")


def test_added_values_are_of_their_own_types(database):
    """A text is a text, whatever a file's would be; in a table that is there it is what the column makes of it."""
    values = {"code": "007", "flag": "true", "price": decimal.Decimal("-1.50"), "n": 7, "big": 10**18}
    report = database.write([{"a": 1}], add=values)
    types = {column["name"]: column["type"] for column in report.plan.columns}
    assert types == {"a": "integer", "code": "text", "flag": "text", "price": "decimal(3,2)", "n": "integer", "big": "integer"}
    assert (database.values("code"), database.values("flag")) == (["007"], ["true"])
    database.write([{"a": 2}], add={**values, "n": "8"}, if_exists="append")
    assert sorted(database.values("n")) == [7, 8]


def test_hours_of_numpy_are_moments(sqlite):
    numpy = pytest.importorskip("numpy")
    units = ("h", "m", "s")
    sqlite.write([{unit: numpy.datetime64("2024-05-06T07", unit) for unit in units}])
    assert sqlite.read()[1] == [("2024-05-06 07:00:00",) * 3]


def test_missing_keys_are_null(sqlite):
    with sqlite.writer(columns=["a", "b"]) as rows:
        rows.insert({"b": 1})
        rows.insert({})
        rows.insert({"a": 2})
    assert sqlite.read()[1] == [(None, 1), (None, None), (2, None)]


def test_a_key_that_some_dicts_lack_is_null_in_their_rows(database):
    """A default is for a column that no row says anything of."""
    database.execute(f"create table {database.table} (id integer, kind varchar(10) default 'plain')")
    database.write([{"id": 1, "kind": "odd"}, {"id": 2}], if_exists="append")
    assert database.read()[1] == [(1, "odd"), (2, None)]


def test_a_first_row_without_keys(sqlite):
    sqlite.write([{}, {"b": 2}])
    assert sqlite.read() == (["b"], [(None,), (2,)])
    rows = ({} if number < 12_000 else {"b": 1} for number in range(12_001))
    with pytest.raises(inrush.UsageError, match=r"rows 1 to 10000 are empty, .*columns=\[...\]"):
        sqlite.write(rows, if_exists="replace")
    with pytest.raises(inrush.UsageError, match=r"row 1 is empty, .*columns=\[...\]"), sqlite.writer(if_exists="replace") as writer:
        writer.insert({})


def test_texts_are_read_as_is_said(database):
    rows = [("1", "31.12.2024", "1.234,5", 1_700_000_000, "ja"), ("2", "01.02.1999", "-0,25", None, "nein"), ("3", None, None, 0, None)]
    said = {
        "date_format": "day=%d.%m.%Y",
        "decimal": "n=,",
        "thousands": ["n=."],
        "types": {"at": "timestamp[s]"},
        "true": "ok=ja",
        "false": "ok=nein",
    }
    report = database.write(rows, columns=["id", "day", "n", "at", "ok"], **said)
    types = {column["name"]: column["type"] for column in report.plan.columns}
    assert (types["day"], types["at"], types["ok"]) == ("date", "timestamptz", "boolean")
    assert_same(database.values("day"), [dt.date(2024, 12, 31), dt.date(1999, 2, 1), None])
    assert [None if n is None else float(n) for n in database.values("n")] == [1234.5, -0.25, None]
    utc = dt.timezone.utc
    assert_same(database.values("at"), [dt.datetime(2023, 11, 14, 22, 13, 20, tzinfo=utc), None, dt.datetime(1970, 1, 1, tzinfo=utc)])
    assert_same(database.values("ok"), [True, False, None])
    with pytest.raises(inrush.RejectedRows) as caught:
        database.write([("4", "2024-12-31", "1", 0, "ja")], columns=["id", "day", "n", "at", "ok"], if_exists="append", **said)
    assert [(row.column, row.row[1]) for row in caught.value.rows] == [("day", "2024-12-31")]
    with pytest.raises(inrush.UsageError, match="no column nope"):
        database.write([(1,)], columns=["a"], date_format="nope=%F", if_exists="replace")
    with pytest.raises(inrush.UsageError, match="trim"):
        database.write([(1,)], columns=["a"], trim="left", if_exists="replace")


def test_columns_choose_the_order(sqlite):
    sqlite.write([{"a": 1, "b": 2}, {"b": 4, "a": 3}], columns=["b", "a"])
    assert sqlite.read() == (["b", "a"], [(2, 1), (4, 3)])


def test_columns_as_a_dict_say_types(sqlite):
    report = sqlite.write([("1", "2020-01-01", 5)], columns={"a": "integer", "b": "date", "c": "text"})
    assert [column["type"] for column in report.plan.columns] == ["integer", "date", "text"]
    assert sqlite.read()[1] == [(1, "2020-01-01", "5")]
    # `types` is about single ones.
    sqlite.write([("1", "2")], columns=["a", "b"], types={"b": "integer"}, if_exists="replace")
    assert sqlite.read()[1] == [("1", 2)]
    for wrong in ({"a": "nonsense"}, {"a": 5}):
        with pytest.raises(inrush.UsageError):
            sqlite.write([(1,)], columns=wrong, if_exists="replace")


def test_a_type_that_turns_out_to_be_another(sqlite):
    """The first rows are integers, and a late one is not: a list is read again, from the first row on."""
    rows = [(number,) for number in range(30_000)] + [("x",)]
    report = sqlite.write(rows, columns=["v"])
    assert report.rows_loaded == 30_001
    assert sqlite.values("v")[-2:] == ["29999", "x"]
    assert any("column v" in warning for warning in report.warnings)


def test_a_type_that_turns_out_to_be_another_of_a_generator(sqlite):
    """Which can be had only once: it is a bad row then."""
    rows = ((number,) if number < 30_000 else ("x",) for number in range(30_001))
    with pytest.raises(inrush.RejectedRows) as caught:
        sqlite.write(rows, columns=["v"])
    assert [(row.position, row.row) for row in caught.value.rows] == [(30_001, ("x",))]
    assert not sqlite.exists()


UTC_NOON = dt.datetime(2024, 1, 2, 12, tzinfo=dt.timezone.utc)

#: Values of several kinds, and what is said of the column that holds them.
MIXED = {
    "a text": ([1] * 9 + ["x"], "9 of 10 values seen are of type integer, but 'x' (row 10) is not"),
    "a number": (["x", None, "y", 1], "1 of 3 values seen are of type integer, but 'x' (row 1) is not"),
    "a truth": ([True, 2], "1 of 2 values seen are of type boolean, but '2' (row 2) is not"),
    "a big number": ([1, 2.5, 2**70], "2 of 3 values seen are of type float, but '1180591620717411303424' (row 3) is not"),
    "a float": ([decimal.Decimal("0.1"), 0.1], "1 of 2 values seen are of type decimal(38,1), but '0.1' (row 2) is not"),
    "a zone": ([UTC_NOON, UTC_NOON.replace(tzinfo=None)], "1 of 2 values seen are of type timestamptz, but '2024-01-02 12:00:00' (row 2)"),
    "bytes": (["x", b"y"], "1 of 2 values seen are of type bytes, but 'x' (row 1) is not"),
    "a text of bytes": ([b"y", "x"], "1 of 2 values seen are of type bytes, but 'x' (row 2) is not"),
}


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("way", ["list", "generator", "writer", "pandas"])
def test_a_column_of_several_kinds_is_text_and_told(sqlite, name, way):
    values, words = MIXED[name]
    rows = [{"id": at, "v": value} for at, value in enumerate(values)]
    if way == "writer":
        with sqlite.writer() as writer:
            writer.insert_many(rows)
        report = writer.report
    elif way == "pandas":
        pandas = pytest.importorskip("pandas")
        report = sqlite.write(pandas.DataFrame({"id": range(len(values)), "v": pandas.Series(values, dtype=object)}))
    else:
        report = sqlite.write(rows if way == "list" else iter(rows))
    (warning,) = report.warnings
    assert warning.startswith(f"column v is text: {words}"), warning
    # Into a column that is there, or of a type that was asked for, nothing was decided.
    assert sqlite.write(rows, if_exists="append").warnings == []
    assert sqlite.write(rows, if_exists="replace", types={"v": "text"}).warnings == []


def test_columns_of_one_kind_are_no_news(sqlite):
    row = {"a": 1, "b": "x", "c": None, "d": b"x", "e": dt.time(1), "f": [1], "g": 2.5, "h": dt.date(2024, 1, 1)}
    assert sqlite.write([row, {**row, "c": "y", "g": 5}, {**row, "a": None, "b": None}]).warnings == []


def test_values_that_are_looked_at_later_are_counted_once(sqlite):
    """The row with another column has the first 10,000 looked at again."""
    rows = [{"v": 1}] * 11_000 + [{"v": "x", "w": 1}, {"v": True}]
    (warning,) = sqlite.write(rows).warnings
    assert warning.startswith("column v is text: 11000 of 11002 values seen are of type integer, but 'x' (row 11001) is not"), warning


def test_a_mostly_uniform_column_keeps_its_type_where_bad_rows_are_allowed(sqlite):
    bad = []
    report = sqlite.write([(1,)] * 9 + [("x",)], columns=["v"], max_rejects=1, rejects=bad)
    assert sqlite.values("v") == [1] * 9
    assert [(row.position, row.row) for row in bad] == [(10, ("x",))]
    assert "column v is integer" in report.warnings[0]


@pytest.mark.parametrize(
    "value, text",
    [
        (dt.datetime(2024, 1, 2), "2024-01-02 00:00:00"),
        (dt.datetime(2024, 1, 2, 3, 4, 5, 600_000), "2024-01-02 03:04:05.6"),
        (dt.datetime(2024, 1, 2, 1, tzinfo=dt.timezone(dt.timedelta(hours=2))), "2024-01-01 23:00:00+00:00"),
        (dt.datetime(1, 1, 1), "0001-01-01 00:00:00"),
        (1e16, "1e+16"),
        (1e-7, None),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
        (True, "true"),
    ],
)
def test_a_value_has_one_text_whatever_comes_first(sqlite, value, text):
    sqlite.write([(value,), ("x",), (dt.date(2024, 1, 1),), (value,)], columns=["v"])
    first, _, _, last = sqlite.values("v")
    assert first == last and (text is None or first == text)


def test_a_row_of_csv_with_more_values_than_names(sqlite):
    rows = csv.DictReader(io.StringIO("a,b\n1,2\n3,4,5\n"))
    with pytest.raises(inrush.UsageError, match="row 2 has more values than there are columns") as caught:
        sqlite.write(rows)
    assert "inrush.load" in caught.value.advice[0]


def test_long_values_and_wide_rows(sqlite):
    long = "x" * (3 << 20)
    sqlite.write([(1, long), (2, long.encode()), (3, None)], columns=["id", "v"], types={"v": "text"})
    assert sqlite.values("v") == [long, long, None]
    wide = [tuple(range(row, row + 1_000)) for row in range(20)]
    sqlite.write(wide, columns=[f"c{at}" for at in range(1_000)], if_exists="replace")
    assert sqlite.read()[1] == wide


def test_names_that_are_odd(sqlite):
    names = ["", "select", 'a"b', "ä", "a b", "1"]
    report = sqlite.write([tuple(range(6))], columns=names)
    assert report.rows_loaded == 1
    assert sqlite.read()[0][1:] == names[1:]


@pytest.mark.parametrize("offset", [dt.timedelta(hours=1, seconds=17), dt.timedelta(microseconds=1)])
def test_offsets_that_no_text_has(sqlite, offset):
    """Of seconds, or less: the load goes on, with text."""
    value = dt.datetime(2020, 6, 1, 12, tzinfo=dt.timezone(offset))
    sqlite.write([(value,), (value,)], columns=["v"])
    assert sqlite.values("v") == [value.isoformat()] * 2


def test_kinds_that_change_with_every_row(sqlite):
    """Each change closes a batch; none is lost, or out of its place."""
    kinds = [1, "a", None, 2.5, True, b"x", dt.date(2020, 1, 1)]
    rows = [(number, kinds[number % len(kinds)]) for number in range(700)]
    sqlite.write(rows, columns={"id": "integer", "v": "text"})
    assert sqlite.values("id") == list(range(700))
    assert sqlite.values("v")[:7] == ["1", "a", None, "2.5", "true", "x", "2020-01-01"]


@pytest.mark.parametrize("late", [{"n": 2.5}, {"price": decimal.Decimal("0.125")}, {"x": 2**60 + 1}])
def test_a_late_value_of_another_type_changes_its_own_column_alone(sqlite, late):
    """Texts that look like numbers stay texts, bytes bytes, and decimals keep their digits."""
    row = {"n": 1, "price": decimal.Decimal("0.10"), "x": 1.5, "zip": "01067", "version": "1.10", "day": "2020-01-01", "raw": b"12"}
    sqlite.write([row] * 10_001 + [{**row, **late}])
    names, rows = sqlite.read()
    kept = {**row, "price": "0.10"}
    changed = {name: str(value) if name != "n" else value for name, value in late.items()}
    assert dict(zip(names, rows[-1])) == {**kept, **changed}
    alone = {name: value for name, value in kept.items() if name not in late}
    assert {name: value for name, value in zip(names, rows[0]) if name in alone} == alone


EUROPEAN = {"decimal": ",", "thousands": "."}


def test_how_texts_are_read_is_not_said_of_values_of_other_types(database):
    """`1.234` is a number of a thousandth where it is a Decimal, and a thousand where it is a text."""
    D = decimal.Decimal
    rows = [(D("19.990"),), ("19.990,5",), (1.25,), ("1,25",), (D("1.234"),), (None,), (7,)]
    for rows in (rows, rows[::-1]):
        database.write(rows, columns={"n": "float"}, if_exists="replace", **EUROPEAN)
        wanted = {D: float, str: lambda text: float(text.replace(".", "").replace(",", ".")), float: float, int: float}
        assert database.values("n") == [None if n is None else wanted[type(n)](n) for (n,) in rows]
    with database.writer(columns={"n": "float"}, if_exists="replace", **EUROPEAN) as writer:
        writer.insert_many([(D("1.234"),), ("1.234",)])
    assert database.values("n") == [1.234, 1234.0]


def test_a_float_that_is_no_number_is_none_of_what_texts_are_read_as(database):
    """It is what it is as without options, and it ends no batch."""
    rows = [("1,5",), (math.nan,), ("2.000,5",)]
    bad = []
    database.write(rows, columns={"n": "float"}, if_exists="replace", max_rejects="all", rejects=bad, **EUROPEAN)
    plain = []
    database.table += "_plain"
    database.write([(1.5,), (math.nan,), (2000.5,)], columns={"n": "float"}, if_exists="replace", max_rejects="all", rejects=plain)
    assert len(bad) == len(plain)
    wanted = database.values("n")
    database.table = database.table.removesuffix("_plain")
    assert [repr(n) for n in database.values("n")] == [repr(n) for n in wanted]


def test_options_of_one_column_change_nothing_of_others(sqlite):
    """What it mixes is taken as without options."""
    rows = [{"a": "x" if row % 3 else math.nan, "b": row if row % 2 else "y", "n": "1,5"} for row in range(300)]
    sqlite.write(rows, types={"n": "float"}, decimal="n=,")
    read = sqlite.read()
    sqlite.write([{**row, "n": 1.5} for row in rows], if_exists="replace")
    assert sqlite.read() == read


def test_dates_stay_what_they_are_beside_texts_that_are_read(database):
    """The second of January is a text here, and the first of February a date."""
    rows = [("2024-02-01",), (dt.date(2024, 2, 1),), ("2024-31-12",)]
    for rows in (rows, rows[::-1]):
        database.write(rows, columns={"d": "date"}, date_format="%Y-%d-%m", if_exists="replace")
        wanted = [dt.date(2024, 1, 2), dt.date(2024, 2, 1), dt.date(2024, 12, 31)]
        assert_same(database.values("d"), wanted if rows[0][0] == "2024-02-01" else wanted[::-1])


def test_texts_that_are_read_beside_bytes_and_broken_ones(sqlite):
    rows = [("1,5",), (b"ab",), ("2,5",), ("\ud800",), ("3,5",)]
    bad = []
    sqlite.write(rows, columns={"n": "float"}, max_rejects="all", rejects=bad, **EUROPEAN)
    assert (sqlite.values("n"), len(bad)) == ([1.5, 2.5, 3.5], 2)


def test_clocks_of_a_zone_are_moments_whether_texts_or_datetimes(database):
    rows = [("2024-07-01 12:00:00",), (dt.datetime(2024, 7, 1, 12),), (dt.datetime(2024, 7, 1, 10, tzinfo=dt.timezone.utc),)]
    wanted = [dt.datetime(2024, 7, 1, 10, tzinfo=dt.timezone.utc)]
    for some in (rows, rows[1:], rows[1:2]):
        database.write(some, columns=["at"], time_zone="at=Europe/Berlin", types={"at": "timestamptz"}, if_exists="replace")
        assert_same(database.values("at"), wanted * len(some))
    report = database.write(rows[1:2], columns=["at"], time_zone="at=Europe/Berlin", if_exists="replace")
    assert [column["type"] for column in report.plan.columns] == ["timestamptz"]
    assert_same(database.values("at"), wanted)
    # An hour that clocks skip is no moment, whoever says it.
    with pytest.raises(inrush.RejectedRows, match="clocks skip it"):
        database.write([(dt.datetime(2024, 3, 31, 2, 30),)], columns=["at"], time_zone="at=Europe/Berlin", if_exists="replace")


def test_first_rows_that_mislead_where_what_is_written_stays(place):
    """All rows are looked at before the first one is written: a collection of MongoDB gives none back."""
    place.write([{"id": -1, "v": "x"}])
    rows = [{"id": number, "v": number} for number in range(10_500)]
    report = place.write([*rows, {"id": 10_500, "v": "late"}], if_exists="append")
    assert report.rows_loaded == 10_501
    assert place.count() == 10_502


def test_values_that_become_text_behind_the_first_rows_are_told(sqlite):
    """A generator's types are those of its first rows, and a table's column is what it was made as."""

    def rows(first, *late):
        yield from ({"a": first, "i": number} for number in range(10_001))
        yield from ({"a": value, "i": -1} for value in late)

    report = sqlite.write(rows(None, 2.5, 3), if_exists="replace")
    assert report.warnings == [
        "column a is text: the first rows have no value that says what it is, and '2.5' (row 10002) became text "
        '(types={"a": "float"} says that it is more)'
    ]
    report = sqlite.write(rows("x", b"ab"), if_exists="replace")
    assert ["column a is text: the first rows have texts in it, and b'ab' (row 10002) became text" in one for one in report.warnings] == [True]
    # What they are told to be, they are.
    assert sqlite.write(rows(None, 2.5), types={"a": "float"}, if_exists="replace").warnings == []
    assert sqlite.write(rows(None, "x"), if_exists="replace").warnings == []
    with sqlite.writer(commit="batch", rows_per_commit=2, if_exists="replace") as writer:
        writer.insert_many([{"a": None}, {"a": None}, {"a": 1}, {"a": 2.5}])
    assert ["'1' (row 3) became text" in one for one in writer.report.warnings] == [True]


def test_frames_whose_values_become_text_are_told(sqlite):
    frames = [pa.table({"a": pa.array(values, kind)}) for values, kind in (
        (["x"], pa.string()), ([None], pa.float64()), ([None, 1.5], pa.float64()), ([True], pa.bool_()), (["y"], pa.large_string())
    )]
    with sqlite.writer() as writer:
        for frame in frames:
            writer.write(frame)
    assert writer.report.warnings == [
        "column a is text: the first rows have texts in it, and values of type Float64 (from row 4 on) became text"
    ]
    with sqlite.writer(types={"a": "text"}, if_exists="replace") as writer:
        for frame in frames:
            writer.write(frame)
    assert writer.report.warnings == []


def test_a_float_that_is_no_number_among_texts_is_told(database):
    """As pandas has missing texts in `to_dict("records")`."""
    database.execute(f"create table {database.table} (a varchar(10))")
    rows = [{"a": "x"}, {"a": float("nan")}]
    report = database.write(rows, if_exists="append")
    assert database.values("a") == ["x", "NaN"]
    assert ['(row 2) is the text \'NaN\' in it: nulls=["a=NaN"] loads NULL for it' in one for one in report.warnings] == [True]
    report = database.write(rows, if_exists="append", nulls=["a=NaN"])
    assert (database.values("a")[2:], report.warnings) == (["x", None], [])


@dataclasses.dataclass
class Wider(Data):
    size: int = 9


@pytest.mark.parametrize(("first", "late"), [(1, 2**70), (decimal.Decimal("1.5"), decimal.Decimal("1.125")), (1, "x")])
def test_a_late_value_that_its_column_does_not_take_says_how_to_name_the_type(sqlite, first, late):
    """Also where it is one of the kind, and beyond what the column holds."""
    rows = itertools.chain([{"a": first}] * 10_001, [{"a": late}])
    with pytest.raises(inrush.RejectedRows, match=r'types=\{"a": "TYPE"\} says what the column is'):
        sqlite.write(rows)


def test_fields_that_only_later_rows_have_are_no_less_fields(sqlite):
    """A row of another class, whose fields would be left out without a word."""
    with pytest.raises(inrush.UsageError, match="row 2 has a field 'size', and the columns are those of the rows before: id, name"):
        sqlite.write([Data(1, "a"), Wider(2, "b", 7)])
    sqlite.write([Data(1, "a"), Wider(2, "b", 7)], columns=["id", "name"])
    assert sqlite.read()[1] == [(1, "a"), (2, "b")]
    with pytest.raises(inrush.UsageError, match="row 2 has the fields"):
        sqlite.write([(5, 7), Pair(1, 2)], columns=["name", "id"], if_exists="replace")


def test_fields_that_a_model_takes_beside_those_of_its_class(sqlite):
    """As pydantic keeps them."""

    class Model:
        model_fields = {"a": None}

        def __init__(self, a, **extra):
            self.a = a
            self.__pydantic_extra__ = extra

        __slots__ = ("__dict__", "__pydantic_extra__")

        def __getattr__(self, name):
            try:
                return self.__pydantic_extra__[name]
            except KeyError:
                raise AttributeError(name) from None

    sqlite.write([Model(1), Model(2, b="x")])
    assert sqlite.read() == (["a", "b"], [(1, None), (2, "x")])


def test_a_dict_of_columns(place):
    columns = {"id": [1, 2, 3], "name": ("a", None, "c")}
    assert place.write(columns).rows_loaded == 3
    assert [str(value) for value in place.values("id")] == ["1", "2", "3"]
    assert place.values("name") == ["a", None, "c"]


def test_dicts_of_columns_in_a_writer_go_by_name(sqlite):
    with sqlite.writer() as rows:
        rows.write({"id": range(1, 3), "n": [None, None]})
        rows.insert((3, 1.5))
        rows.write({"n": [2.5], "id": [4]})
        with pytest.raises(inrush.UsageError, match="a dict is no iterable of rows; insert\\(\\) takes one row, and write\\(\\) a dict of columns"):
            rows.insert_many({"id": [5]})
    assert (sqlite.values("id"), sqlite.values("n")) == ([1, 2, 3, 4], [None, None, 1.5, 2.5])
    sqlite.write({"n": [0.5]}, if_exists="append")
    assert (sqlite.values("id")[-1], sqlite.values("n")[-1]) == (None, 0.5)


def test_bad_rows_of_a_dict_of_columns_are_its_rows(sqlite):
    bad = []
    sqlite.write({"id": [1, 2], "n": [1, "x"]}, types={"n": "integer"}, max_rejects=1, rejects=bad)
    assert [(row.position, row.column, row.row) for row in bad] == [(2, "n", {"id": 2, "n": "x"})]


def test_a_dict_of_columns_of_numpy(sqlite):
    numpy = pytest.importorskip("numpy")
    sqlite.write({"id": numpy.arange(3), "x": numpy.array([0.5, 1.5, 2.5]), "m": numpy.ma.masked_array([1, 2, 3], [False, True, False])})
    assert [sqlite.values(name) for name in ("id", "x", "m")] == [[0, 1, 2], [0.5, 1.5, 2.5], [1, None, 3]]


def test_a_dict_of_columns_without_rows_makes_the_table(sqlite):
    assert sqlite.write({"id": [], "name": []}).rows_loaded == 0
    assert sqlite.read() == (["id", "name"], [])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"id": [1, 2], "name": ["a"]}, "column 'id' has 2 values, and 'name' 1"),
        ({"id": [1], "name": "a"}, "each is a list of values, and 'name' is a str: one row is written as \\[row\\]"),
        ({"id": 1}, "each is a list of values, and 'id' is a int"),
        ({"id": {1, 2}}, "each is a list of values, and 'id' is a set"),
        ({}, "a dict without columns has no rows"),
    ],
)
def test_a_dict_that_is_none_of_columns(sqlite, rows, said):
    with pytest.raises(inrush.UsageError, match=said):
        sqlite.write(rows)
    assert not sqlite.exists()


def outcome(place, rows, columns=("id", "v"), **options):
    """What comes of rows in a new table: the type of `v`, and the rows, or which of them are bad."""
    bad = []
    report = place.write(rows, columns=list(columns), if_exists="replace", max_rejects="all", rejects=bad, **options)
    (ty,) = [column["type"] for column in report.plan.columns if column["name"] == "v"]
    return ty, repr(place.read()), [row.position for row in bad], report.warnings


NAN, INFINITY = math.nan, math.inf

#: Values that are written otherwise than most of their column, and are of its type.
ODD = {
    "nan among integers": ([1, NAN, 3], "float"),
    "infinity among floats": ([1.5, -INFINITY, 3.5], "float"),
    "nan among decimals": ([decimal.Decimal("1.10"), decimal.Decimal("NaN"), decimal.Decimal("3.30")], "decimal(38,2)"),
    "a negative zero": ([decimal.Decimal("19.99"), decimal.Decimal("-0.00"), 3], "decimal(38,2)"),
    "a long decimal": ([decimal.Decimal("-0.00"), decimal.Decimal("1234567890.12345678901234567")], "decimal(38,17)"),
}


@pytest.mark.parametrize("name", ODD)
def test_a_value_is_kept_or_bad_whether_rows_can_be_read_again_or_not(place, name):
    """The type is that of the values' kinds: no way to write one of them makes it another."""
    values, ty = ODD[name]
    rows = list(enumerate(values))
    of_list = outcome(place, rows)
    if place.has_types:
        assert of_list[0] in (ty, "text" if ty != "float" else ty)
    assert outcome(place, iter(rows)) == of_list
    assert outcome(place, {"id": list(range(len(values))), "v": values}, ("id", "v")) == of_list
    late = rows[:1] * 10_001 + rows[1:]
    assert outcome(place, late)[2] == [10_000 + position for position in of_list[2]]


@pytest.mark.parametrize("value", [NAN, INFINITY])
@pytest.mark.parametrize("first", [1, 1.5])
def test_floats_that_are_no_numbers_are_bad_where_the_target_has_none(database, first, value):
    rows = [{"a": first}, {"a": value}]
    has_it = isinstance(database, (Postgres, Duckdb)) or (isinstance(database, Sqlite) and value == INFINITY)
    for rows in (rows, iter(rows)):
        bad = []
        report = database.write(rows, max_rejects=1, rejects=bad, if_exists="replace")
        assert repr(database.values("a")) == repr([float(first), value] if has_it else [float(first)])
        assert (len(bad), report.warnings) == (0 if has_it else 1, [])


def test_decimals_are_never_floats(database):
    """Neither a zero with a sign nor a late float makes them some."""
    D = decimal.Decimal
    is_text = isinstance(database, Sqlite)
    report = database.write([{"a": D("19.99")}, {"a": D("-0.00")}])
    assert [column["type"] for column in report.plan.columns] == ["decimal(38,2)"]
    assert [D(value) for value in database.values("a")] == [D("19.99"), 0]
    assert all(isinstance(value, str if is_text else D) for value in database.values("a"))
    for last in ([D("1.10"), 1e17], [D("1.10")] * 12_000 + [1e17], [D("1.10")] * 12_000 + [0.5]):
        report = database.write([{"a": value} for value in last], if_exists="replace")
        assert database.values("a")[-1] == ("1e+17" if last[-1] == 1e17 else "0.5")
        assert database.values("a")[0] == "1.10"
        assert ["column a is text" in warning for warning in report.warnings] == [True]


def test_objects_in_a_frame_have_the_type_of_their_kinds(database):
    """Beside a column that Arrow has no type for they are taken value by value."""
    pandas = pytest.importorskip("pandas")
    D = decimal.Decimal
    frame = pandas.DataFrame({"d": [{"x": 1}, {}], "n": [D("19.99"), D("-0.00")]})
    report = database.write(frame)
    assert [column["type"] for column in report.plan.columns] == ["json", "decimal(38,2)"]
    assert [D(value) for value in database.values("n")] == [D("19.99"), 0]


@pytest.mark.parametrize("way", ["list", "late", "generator", "writer"])
def test_bad_rows_that_are_allowed_keep_a_column_its_type(database, way):
    """Whatever its rows come from, as of files."""
    rows = [{"a": number} for number in range(11_000 if way == "late" else 20)] + [{"a": "x"}]
    bad = []
    options = {"max_rejects": 5, "rejects": bad}
    if way == "writer":
        with database.writer(**options) as writer:
            writer.insert_many(rows)
        report = writer.report
    else:
        report = database.write(iter(rows) if way == "generator" else rows, **options)
    assert database.values("a") == [row["a"] for row in rows[:-1]]
    assert [row.row for row in bad] == [{"a": "x"}]
    assert ["column a is integer, as max_rejects=5 allows" in warning for warning in report.warnings] == [True]


def test_types_that_bad_rows_keep_hold_what_is_written_otherwise(database):
    D = decimal.Decimal
    rows = [{"a": D("1.50")}] * 20 + [{"a": D("-0.00")}, {"a": "x"}]
    for rows in (rows, iter(rows)):
        assert database.write(rows, max_rejects=1, rejects=[], if_exists="replace").rows_rejected == 1
        assert [D(value) for value in database.values("a")[-2:]] == [D("1.50"), 0]


def test_more_bad_rows_than_allowed_make_text_of_what_can_be_read_again(sqlite):
    rows = [{"a": 1}] * 20 + [{"a": "x"}] * 3 + [{"a": 1}] * 12_000 + [{"a": "x"}] * 3
    report = sqlite.write(rows, max_rejects=5, rejects=[])
    assert (report.rows_loaded, sqlite.values("a")[-1]) == (12_026, "x")
    assert sum("started again" in warning for warning in report.warnings) == 1
    with pytest.raises(inrush.RejectedRows, match="row 12026"):
        sqlite.write(iter(rows), max_rejects=5, rejects=[], if_exists="replace")


LATE = {
    "interval": (dt.timedelta(hours=26), 5),
    "time": (dt.time(1), "x"),
    "uuid": (uuid.UUID(int=5), 5),
    "date": (dt.date(2024, 1, 1), dt.datetime(2024, 1, 2)),
    "timestamp": (dt.datetime(2024, 1, 1, 5), dt.date(2024, 1, 2)),
    "timestamptz": (UTC_NOON, dt.date(2024, 1, 2)),
}


@pytest.mark.parametrize("name", LATE)
def test_a_late_value_of_another_kind_is_a_bad_row_of_a_generator(place, name):
    """Or a text where the target has no type for such values, which is told; a list is looked at as a whole."""
    first, last = LATE[name]

    def rows():
        return [{"a": first}] * 10_001 + [{"a": last}]

    report = place.write(rows())
    assert (report.rows_loaded, report.rows_rejected) == (10_002, 0)
    if place.has_types:
        assert f"column a is text: 10001 of 10002 values seen are of type {name}" in report.warnings[0]
    bad = []
    report = place.write(iter(rows()), if_exists="replace", max_rejects="all", rejects=bad)
    told = [warning for warning in report.warnings if f"the first rows are of type {name}" in warning]
    assert (len(bad), len(told)) in [(1, 0), (0, 1 if place.has_types else 0)]
    if name in ("date", "timestamp", "timestamptz"):
        assert [row.position for row in bad] == [10_002]


def test_existing_columns_are_what_they_are_whatever_rows_mislead(sqlite):
    """Their rows are read once."""
    asked = []

    class Rows(list):
        def __iter__(self):
            asked.append(1)
            return super().__iter__()

    rows = [{"a": 1}] * 12_000 + [{"a": 2.5}]
    sqlite.execute("create table t (a real)")
    sqlite.write(Rows(rows), if_exists="append")
    assert sqlite.values("a")[-1] == 2.5
    appended = len(asked)
    asked.clear()
    sqlite.write(Rows(rows), if_exists="replace")
    assert sqlite.values("a")[-1] == 2.5
    assert appended < len(asked)
