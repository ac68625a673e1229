"""Bad rows, by whatever way they are told."""

import collections
import dataclasses
import datetime as dt
import enum
import functools
import json
import typing
import uuid
from decimal import Decimal as D

import pytest
from conftest import Duckdb, Mongodb

import inrush

TYPES = {"id": "integer", "name": "text"}
ROWS = [(1, "a"), ("x", "b"), (3, "c"), (4, "d"), ("y", "e")]


def test_one_is_enough(place):
    """And says what to do."""
    with pytest.raises(inrush.RejectedRows) as caught:
        place.write(ROWS, columns=TYPES)
    error = caught.value
    assert error.kind == "rejects" and error.advice and (error.record, error.column) == (2, "id")
    (row,) = error.rows
    assert row == inrush.RejectedRow(2, "id", "type", row.message, ("x", "b"))
    assert "'x'" in row.message and "row 2" in str(error)
    assert row.row is ROWS[1]


@pytest.mark.parametrize(("way", "how"), [("rows", "list"), ("generator", "callback"), ("writer", "list"), ("frame", "callback")])
def test_told(place, way, how):
    bad = []
    options = {"max_rejects": 2, "rejects": bad if how == "list" else bad.append}
    if way == "writer":
        with place.writer(columns=TYPES, **options) as rows:
            rows.insert_many(ROWS)
        report = rows.report
    elif way == "frame":
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame([(str(id), name) for id, name in ROWS], schema=list(TYPES), orient="row")
        report = place.write(frame, types=TYPES, **options)
    else:
        report = place.write(ROWS if way == "rows" else iter(ROWS), columns=TYPES, **options)
    assert (report.rows_loaded, report.rows_rejected, report.rejects) == (3, 2, [])
    assert [(row.position, row.column, row.code) for row in bad] == [(2, "id", "type"), (5, "id", "type")]
    wanted = [ROWS[1], ROWS[4]]
    assert [row.row for row in bad] == ([dict(zip(TYPES, row)) for row in wanted] if way == "frame" else wanted)
    assert [int(value) for value in place.values("id")] == [1, 3, 4]


@pytest.mark.parametrize(("limit", "is_enough"), [(2, True), (1, False), ("2", True), ("40%", True), ("39%", False), ("all", True), ("0", False)])
def test_limits(sqlite, limit, is_enough):
    for rows in (ROWS, iter(ROWS)):
        bad = []
        if is_enough:
            assert sqlite.write(rows, columns=TYPES, max_rejects=limit, rejects=bad, if_exists="replace").rows_rejected == 2
            assert len(bad) == 2
        else:
            with pytest.raises(inrush.RejectedRows) as caught:
                sqlite.write(rows, columns=TYPES, max_rejects=limit, rejects=bad, if_exists="replace")
            assert caught.value.rows
            assert not sqlite.exists()


def test_rejects_of_rows_are_json_lines(sqlite, tmp_path):
    path = tmp_path / "bad.jsonl"
    rows = [{"id": 1, "at": dt.date(2020, 1, 1)}, {"id": "x", "at": dt.date(2020, 1, 2)}, {"id": "y", "at": None}]
    report = sqlite.write(rows, columns={"id": "integer", "at": "date"}, max_rejects=5, rejects=path)
    assert report.rejects == [str(path)]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines == [{"id": "x", "at": "2020-01-02"}, {"id": "y", "at": None}]
    notes = [json.loads(line) for line in (tmp_path / "bad.jsonl.jsonl").read_text().splitlines()]
    assert [(note["record"], note["column"], note["code"], note["table"]) for note in notes] == [(2, "id", "type", "t"), (3, "id", "type", "t")]
    # What was fixed loads again.
    path.write_text(path.read_text().replace('"x"', "2").replace('"y"', "3"))
    assert inrush.load(path, sqlite.url, if_exists="append", progress=False).rows_loaded == 2
    assert sqlite.values("id") == [1, 2, 3]


def test_bad_rows_need_a_place(sqlite):
    """Rows of a program have no file that theirs could lie beside."""
    for limit in (5, "1%", "all"):
        writes = [functools.partial(sqlite.write, ROWS), functools.partial(sqlite.write, iter(ROWS)), sqlite.writer]
        for write in writes:
            with pytest.raises(inrush.UsageError, match="max_rejects allows bad rows, and those of a program have no place") as caught:
                write(columns=TYPES, max_rejects=limit)
            assert caught.value.advice == ['say where they go: rejects="bad.jsonl", a list, or a function that is called with each']
    assert not sqlite.exists()
    for none in (0, "0", None):
        assert sqlite.write([(1, "a")], columns=TYPES, max_rejects=none, if_exists="replace").rows_loaded == 1


def test_no_file_where_nothing_is_bad(sqlite, tmp_path):
    report = sqlite.write([(1,)], columns=["id"], max_rejects=5, rejects=tmp_path / "bad.jsonl")
    assert report.rejects == []
    assert not (tmp_path / "bad.jsonl").exists()


def test_a_callback_that_raises(sqlite):
    def refuse(row):
        raise LookupError(row.position)

    with pytest.raises(LookupError, match="2"):
        sqlite.write(ROWS, columns=TYPES, max_rejects="all", rejects=refuse)


@pytest.mark.parametrize("how", ["rows", "generator", "writer", "steps"])
def test_those_that_are_too_many_are_told_too(sqlite, how):
    """A list has what the exception has; what a callback raises comes out."""

    def write(**options):
        if how in ("rows", "generator"):
            return sqlite.write(ROWS if how == "rows" else iter(ROWS), columns=TYPES, max_rejects=1, **options)
        steps = {"commit": "batch", "rows_per_commit": 100} if how == "steps" else {}
        with sqlite.writer(columns=TYPES, max_rejects=1, **options, **steps) as rows:
            rows.insert_many(ROWS)

    bad = []
    with pytest.raises(inrush.RejectedRows) as caught:
        write(rejects=bad)
    assert bad == caught.value.rows and [row.position for row in bad] == [2, 5]

    def refuse(row):
        raise LookupError(row.position)

    with pytest.raises(LookupError, match="2") as caught:
        write(rejects=refuse)
    assert isinstance(caught.value.__cause__, inrush.RejectedRows)
    assert not sqlite.exists()


def test_what_is_no_place_for_bad_rows(sqlite):
    for wrong in (5, {}, True):
        with pytest.raises(inrush.UsageError, match="rejects"):
            sqlite.write(ROWS, columns=TYPES, rejects=wrong)
    for wrong in ("lots", -1, "101%", 1.5):
        with pytest.raises(inrush.UsageError, match="max_rejects"):
            sqlite.write(ROWS, columns=TYPES, max_rejects=wrong)


def test_keys(database):
    """Of rows that repeat a key the first one stays."""
    bad = []
    rows = [(1, "a"), (2, "b"), (1, "c"), (None, "d")]
    database.write(rows, columns=TYPES, primary_key="id", max_rejects=2, rejects=bad)
    assert sorted((row.position, row.code, row.row) for row in bad) == [(3, "duplicate-key", rows[2]), (4, "not-null", rows[3])]
    assert sorted(database.read()[1]) == rows[:2]


def test_positions_are_of_the_whole_load(place):
    """Not of a batch, of which there are many."""
    count = 300 if isinstance(place, Mongodb) else 40_000
    places = {1, 150, count}
    bad = []
    rows = (("x" if number in places else number, "a") for number in range(1, count + 1))
    place.write(rows, columns=TYPES, max_rejects="all", rejects=bad)
    assert {row.position for row in bad} == places
    assert {row.row for row in bad} == {("x", "a")}


class Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Event:
    id: object
    day: object


VALUES = {
    "day": dt.date(2020, 1, 1),
    "at": dt.datetime(2020, 1, 1, 1, 2, 3, 4),
    "moment": dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc),
    "time": dt.time(1, 2, 3),
    "for": dt.timedelta(days=1, microseconds=5),
    "cost": D("1.10"),
    "who": uuid.UUID(int=5),
    "raw": b"\x00\xff",
    "color": Color.RED,
    "n": 5,
    "f": 0.5,
    "s": "a",
    "b": True,
    "nothing": None,
    "j": {"a": [1, None]},
}


@pytest.mark.parametrize("form", ["dict", "tuple", "namedtuple"])
@pytest.mark.parametrize("way", ["list", "generator", "writer"])
def test_the_row_as_it_was_given(sqlite, form, way):
    """Of a list it is the very one; of what comes only once, an equal one."""
    names = ["id", *VALUES]
    make = {
        "dict": lambda id: {"id": id, **VALUES},
        "tuple": lambda id: (id, *VALUES.values()),
        "namedtuple": lambda id: collections.namedtuple("Row", [f"c{at}" for at in range(len(names))])(id, *VALUES.values()),
    }[form]
    if form == "namedtuple":
        types, columns = {"c0": "integer"}, None
    else:
        types, columns = {"id": "integer"}, names
    rows, bad = [make(1), make("x")], []
    options = {"columns": columns, "types": types, "max_rejects": 1, "rejects": bad}
    if way == "writer":
        with sqlite.writer(**options) as writer:
            writer.insert_many(rows)
    else:
        sqlite.write(rows if way == "list" else iter(rows), **options)
    (row,) = bad
    assert row.row == rows[1]
    if form != "namedtuple":
        assert type(row.row) is type(rows[1])
    if way == "list":
        assert row.row is rows[1]


def test_a_dataclass_as_it_was_given(sqlite):
    rows = [Event(1, dt.date(2020, 1, 1)), Event("x", dt.date(2020, 1, 2))]
    bad = []
    sqlite.write(iter(rows), types={"id": "integer"}, max_rejects=1, rejects=bad)
    assert bad[0].row == rows[1]


@dataclasses.dataclass
class Priced:
    id: object
    price: object
    weight: object


EXACT = D("0.12345678901234567890")


@pytest.mark.parametrize("first", [(1, D("1.1"), 0.5), (1, None, None), (1, D("1.1"), None), (1, 1, 1)])
@pytest.mark.parametrize("make", [Priced, lambda *row: row, lambda *row: dict(zip(("id", "price", "weight"), row))])
@pytest.mark.parametrize("way", ["generator", "writer"])
def test_decimals_of_bad_rows_keep_their_digits(sqlite, way, make, first):
    """Whatever the first row is: they came back as floats, or as decimals of floats."""
    if first[1] == 1:
        # Of a column of integers a text would come back.
        rows = [make(*first), make(2, D("2.5"), 0.5), make("x", 5, 0.1)]
    else:
        rows = [make(*first), make(2, D("2.5"), 0.5), make("x", EXACT, 0.1)]
    bad = []
    options = {"columns": ["id", "price", "weight"], "types": {"id": "integer"}, "max_rejects": 1, "rejects": bad}
    if way == "writer":
        with sqlite.writer(**options) as writer:
            writer.insert_many(rows)
    else:
        sqlite.write(iter(rows), **options)
    (row,) = bad
    values = [*(row.row.values() if isinstance(row.row, dict) else row.row if isinstance(row.row, tuple) else dataclasses.astuple(row.row))]
    assert type(row.row) is type(rows[0])
    assert values == ["x", *([5, 0.1] if first[1] == 1 else [EXACT, 0.1])]
    assert type(values[2]) is float


def test_decimals_of_a_frame_s_bad_rows_keep_their_digits(sqlite):
    arrow = pytest.importorskip("pyarrow")
    bad = []
    frame = arrow.table({"id": ["1", "x"], "price": [D("1.10"), EXACT], "weight": [0.5, 0.1]})
    sqlite.write(frame, types={"id": "integer"}, max_rejects=1, rejects=bad)
    assert bad[0].row == {"id": "x", "price": EXACT, "weight": 0.1}
    with sqlite.writer(types={"id": "integer"}, max_rejects=1, rejects=bad, if_exists="replace") as rows:
        rows.write(frame)
    assert bad[1].row == bad[0].row


class Nested(typing.NamedTuple):
    x: int
    y: int


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"a": 1}, "plain text"),
        ({"a": 1}, 5),
        ({"a": 1}, [1]),
        ([1], {"b": 2}),
        (Nested(1, 2), Nested(3, 4)),
        (Nested(1, 2), [3]),
        ((1,), "x"),
        (collections.defaultdict(int, a=1), collections.defaultdict(int, b=1)),
        (collections.OrderedDict(a=1), {"b": 1}),
        (1, "x"),
        ("x", None),
        (dt.date(2020, 1, 1), "x"),
    ],
)
@pytest.mark.parametrize("way", ["generator", "writer"])
def test_a_row_unlike_the_first_is_told(sqlite, way, first, second):
    """The load has committed by then: whatever can be made of the row, it has to be told."""
    rows, bad = [{"id": 1, "v": first}, {"id": 1, "v": second}], []
    options = {"primary_key": "id", "max_rejects": "all", "rejects": bad}
    if way == "writer":
        with sqlite.writer(**options) as writer:
            writer.insert_many(rows)
    else:
        sqlite.write(iter(rows), **options)
    assert sqlite.count() == 1
    (row,) = bad
    # Of what is a document in the column it is the same document.
    same = {"id": 1, "v": list(second) if isinstance(second, Nested) and not isinstance(first, Nested) else second}
    assert row.row == same


def test_rows_of_their_own_classes_are_told(sqlite):
    def row(id, **more):
        return collections.defaultdict(int, id=id, **more)

    bad = []
    sqlite.write(iter([row(1, a=5), row(1), row(1, b=6)]), primary_key="id", max_rejects="all", rejects=bad)
    assert [(type(one.row), one.row.default_factory) for one in bad] == [(collections.defaultdict, int)] * 2
    # What it lacks, and the first has, may as well have been None.
    assert [dict(one.row) for one in bad] == [{"id": 1, "a": None}, {"id": 1, "a": None, "b": 6}]


def test_rows_of_files_are_their_text(sqlite, tmp_path):
    source = tmp_path / "people.csv"
    source.write_text("id,name\n1,Ada\nx,Grace\n")
    bad = []
    inrush.load(source, sqlite.url, table="t", types={"id": "integer"}, max_rejects=1, rejects=bad, progress=False)
    assert [(row.position, row.column, row.code, row.row.strip()) for row in bad] == [(2, "id", "type", "x,Grace")]
    with pytest.raises(inrush.RejectedRows) as caught:
        inrush.load(source, sqlite.url, table="t2", types={"id": "integer"}, progress=False)
    error = caught.value
    assert (error.file, error.line, error.record, error.column) == (str(source), 3, 2, "id")
