"""Every type of Arrow and of Python into every target: what the target's own driver reads is what was written, or the row was bad."""

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import json
import math
import pathlib
import types
import uuid
import zoneinfo
from decimal import Decimal as D

import pytest
from conftest import Csv, Duckdb, Jsonl, Mongodb, Mysql, Parquet, Postgres, Sqlite, assert_same, same

import inrush

np = pytest.importorskip("numpy")
pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")

ZURICH = zoneinfo.ZoneInfo("Europe/Zurich")
UTC = dt.timezone.utc


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 9


@dataclasses.dataclass
class Point:
    x: int
    y: float


UUID = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")

#: Values of Python, and what they are where that is something else.
PYTHON = {
    "int": ([0, -1, 2**63 - 1, -(2**63), None], None),
    "int of 20 digits": ([2**64, -(2**70), 1, None], None),
    "int of 40 digits": ([10**40 + 1, -1, None], None),
    "int of 90 digits": ([10**90 + 1, None], None),
    "float": ([0.1, -1.5, 1e300, 5e-324, 1 / 3, None], None),
    "int and float": ([1, 2.5, None], [1.0, 2.5, None]),
    "str": (["", "a", "é😀\t\"',\\", "x" * 5000, None], None),
    "bool": ([True, False, None], None),
    "bytes": ([b"", b"\x00\xff'\\", bytes(range(256)), None], None),
    "bytearray": ([bytearray(b"ab"), None], [b"ab", None]),
    "Decimal": ([D("1.10"), D("-0.001"), D("12345678901234567890.5"), None], None),
    "Decimal, 60 digits": ([D("1" * 50 + ".0000000001"), D("-2"), None], None),
    "Decimal with exponent": ([D("1E+5"), D("1E-10"), None], None),
    "int and Decimal": ([1, D("2.5"), 10**30], None),
    "date": ([dt.date(2020, 2, 29), dt.date(1970, 1, 1), dt.date(9999, 12, 31), None], None),
    "datetime": ([dt.datetime(2020, 2, 29, 23, 59, 59), dt.datetime(1969, 12, 31, 23, 59, 59), None], None),
    "aware datetime": (
        [dt.datetime(2020, 7, 1, 12, tzinfo=ZURICH), dt.datetime(2020, 1, 1, 12, tzinfo=ZURICH), dt.datetime(2020, 1, 1, tzinfo=UTC), None],
        None,
    ),
    "aware datetime, twice": (
        [dt.datetime(2020, 10, 25, 2, 30, tzinfo=ZURICH), dt.datetime(2020, 10, 25, 2, 30, fold=1, tzinfo=ZURICH)],
        [dt.datetime(2020, 10, 25, 0, 30, tzinfo=UTC), dt.datetime(2020, 10, 25, 1, 30, tzinfo=UTC)],
    ),
    "time": ([dt.time(0), dt.time(23, 59, 59), dt.time(1, 2, 3, 4), None], None),
    "timedelta": (
        [dt.timedelta(), dt.timedelta(days=1, hours=2, microseconds=3), dt.timedelta(microseconds=-1), dt.timedelta(days=-3), None],
        None,
    ),
    "UUID": ([UUID, uuid.UUID(int=0), None], None),
    "addresses": (
        [ipaddress.ip_address("192.0.2.1"), ipaddress.ip_address("2001:db8::1"), ipaddress.ip_network("10.0.0.0/8"), None],
        ["192.0.2.1", "2001:db8::1", "10.0.0.0/8", None],
    ),
    "paths": ([pathlib.PurePosixPath("/a/é"), pathlib.PureWindowsPath("C:/b"), None], ["/a/é", "C:\\b", None]),
    "Enum": ([Color.RED, Color.BLUE, None], ["red", "blue", None]),
    "IntEnum": ([Level.LOW, Level.HIGH, None], [1, 9, None]),
    "dict": ([{"a": 1, "b": [1.5, None, "é"]}, {}, None], None),
    "list": ([[1, "x", None], [], None], None),
    "lists of other sorts": ([range(3), collections.deque(["a"]), {"a": range(2), "b": (1, "x")}, None], [[0, 1, 2], ["a"], {"a": [0, 1], "b": [1, "x"]}, None]),
    "decimals in lists": (
        [[D("1.10"), D("12345678901234567890.123456789")], {"a": [D("-0.0"), D("1E+5")]}],
        [["1.10", "12345678901234567890.123456789"], {"a": ["-0.0", "1E+5"]}],
    ),
    "bytes in lists": ([["a", 1, b"x", b"\xff\0"], [bytearray(b"ab")]], [["a", 1, "eA==", "/wA="], ["YWI="]]),
    "dataclass": ([Point(1, 2.5), None], [{"x": 1, "y": 2.5}, None]),
    "JSON without numbers that are none": ([{"a": math.nan, "b": [math.inf, -math.inf, 1.5]}], [{"a": "NaN", "b": ["Infinity", "-Infinity", 1.5]}]),
    "nested": (
        [{"when": dt.date(2020, 1, 1), "who": UUID, "cost": D("1.10"), "color": Color.RED, "for": dt.timedelta(seconds=90), "raw": b"ab"}],
        [{"when": "2020-01-01", "who": str(UUID), "cost": "1.10", "color": "red", "for": "PT90S", "raw": "YWI="}],
    ),
    "numpy integers": ([np.int8(-5), np.uint16(65535), np.int64(2**63 - 1), None], [-5, 65535, 2**63 - 1, None]),
    "numpy uint64": ([np.uint64(2**64 - 1), np.uint64(1)], [2**64 - 1, 1]),
    "numpy floats": ([np.float64(0.1), np.float32(0.1), np.float16(1.5)], [0.1, float(np.float32(0.1)), 1.5]),
    "numpy bool": ([np.bool_(True), np.False_], [True, False]),
    "numpy str": ([np.str_("é")], ["é"]),
    "numpy datetime64": (
        [np.datetime64("2020-01-01T01:02:03"), np.datetime64("NaT"), np.datetime64("1969-12-31T23:59:59")],
        [dt.datetime(2020, 1, 1, 1, 2, 3), None, dt.datetime(1969, 12, 31, 23, 59, 59)],
    ),
    "numpy days": ([np.datetime64("2020-01-01"), np.datetime64("NaT")], [dt.date(2020, 1, 1), None]),
    "numpy timedelta64": (
        [np.timedelta64(-90, "m"), np.timedelta64(5_000, "ns"), np.timedelta64("NaT"), np.timedelta64(2, "W")],
        [dt.timedelta(minutes=-90), dt.timedelta(microseconds=5), None, dt.timedelta(weeks=2)],
    ),
    "numpy array": ([np.array([1, 2]), np.array([0.5])], [[1, 2], [0.5]]),
    "nothing": ([None, None], None),
    "several kinds": ([1, "a", 2.5, None, True], ["1", "a", "2.5", None, "true"]),
    "date and datetime": ([dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 3)], ["2020-01-01", "2020-01-01 03:00:00"]),
}


def assert_read(place, got, want):
    if isinstance(place, Csv):
        # Its NULL and its empty text are the same to Python's reader, as are types.
        want = [None if value in ("", b"") else value for value in want]
    assert_same(got, want)


@pytest.mark.parametrize("form", ["tuples", "generator of dicts"])
def test_python_values(place, form):
    columns = {f"c{at}": values for at, values in enumerate(PYTHON.values())}
    length = max(len(given) for given, _ in columns.values())
    filled = {name: (given + [None] * length)[:length] for name, (given, _) in columns.items()}
    rows = list(zip(*filled.values()))
    if form == "tuples":
        report = place.write(rows, columns=list(columns))
    else:
        report = place.write(dict(zip(columns, row)) for row in rows)
    assert report.rows_loaded == length
    kept = dict(zip(place.read()[0], zip(*place.read()[1])))
    for (label, (given, want)), name in zip(PYTHON.items(), columns):
        want = (given if want is None else want) + [None] * (length - len(given))
        try:
            assert_read(place, kept[name], want)
        except AssertionError as error:
            raise AssertionError(f"{label}: {error}") from error


def test_python_types_become_the_targets_own(place):
    if isinstance(place, (Csv, Jsonl, Mongodb)):
        pytest.skip("columns have no types there")
    row = {
        "i": 1,
        "big": 2**64,
        "f": 0.5,
        "s": "a",
        "b": True,
        "x": b"a",
        "n": D("1.10"),
        "d": dt.date(2020, 1, 1),
        "dt": dt.datetime(2020, 1, 1),
        "tz": dt.datetime(2020, 1, 1, tzinfo=UTC),
        "j": {"a": 1},
    }
    report = place.write([row])
    assert {column["name"]: column["type"] for column in report.plan.columns if column["name"] not in ("big", "n")} == {
        "i": "integer",
        "f": "float",
        "s": "text",
        "b": "boolean",
        "x": "bytes",
        "d": "date",
        "dt": "timestamp",
        "tz": "timestamptz",
        "j": "json",
    }
    if not isinstance(place, Sqlite):
        types = {name: type(value) for name, value in zip(*[(names, rows[0]) for names, rows in [place.read()]][0])}
        assert (types["big"], types["n"]) == (D, D)


def kept_intervals(database):
    """Months, days and nanoseconds of the values of `v`."""
    parts = ("year", "month", "day", "hour", "minute", "second")
    asked = ", ".join(f"extract({part} from v)" for part in parts)
    with database.connect() as connection:
        rows = connection.execute(f"select {asked} from {database.table}").fetchall()
    return [
        None if y is None else (12 * y + mon, d, int((h * 3600 + m * 60 + D(str(s))) * 10**9)) for y, mon, d, h, m, s in rows
    ]


def declared_types(database):
    sql = "select data_type from information_schema.columns where table_name = %s order by ordinal_position"
    with database.connect() as connection:
        return [row[0] for row in connection.execute(sql, [database.table]).fetchall()]


def test_postgres_has_types_for_uuids_and_durations(database):
    if not isinstance(database, Postgres):
        pytest.skip("PostgreSQL's own")
    spans = [dt.timedelta(days=2, microseconds=5), None, dt.timedelta(microseconds=-1)]
    rows = list(zip([UUID, uuid.UUID(int=0), None], spans))
    database.write(rows, columns=["u", "d"])
    assert (declared_types(database), database.read()[1]) == (["uuid", "interval"], rows)
    # Texts among them make the column one of texts, wherever they come.
    for odd in (1, 2):
        mixed = [(UUID, dt.timedelta(seconds=1))] * odd + [("none of these", "long")]
        database.write(mixed, columns=["u", "d"], if_exists="replace")
        assert (declared_types(database), database.count()) == (["text", "text"], odd + 1)
    # So does a duration that the type can't keep.
    frame = table(u=pa.array([UUID.bytes, None], pa.uuid()), d=pa.array([5_000, 5], pa.duration("ns")))
    database.write(frame, if_exists="replace")
    assert declared_types(database) == ["uuid", "text"]
    assert database.read()[1] == [(UUID, "PT0.000005S"), (None, "PT0.000000005S")]
    database.write(frame.slice(0, 1), if_exists="replace", types={"u": "text"})
    assert declared_types(database) == ["text", "interval"]
    database.execute(f"drop table {database.table}")
    database.execute(f"create table {database.table} (u uuid, d interval, t time, z timestamptz)")
    moment = dt.datetime(2020, 7, 1, 12, tzinfo=ZURICH)
    rows = [(UUID, span, dt.time(1, 2, 3, 4), moment) for span in (dt.timedelta(days=2, microseconds=5), dt.timedelta(microseconds=-1))]
    database.write(rows, if_exists="append")
    assert database.read()[1] == rows


#: Months, days and nanoseconds of intervals, and their text.
INTERVALS = {
    (14, 3, 14_706_500_000_000): "P1Y2M3DT4H5M6.5S",
    (-13, 2, -500_000_000): "P-1Y-1M2DT-0.5S",
    (0, 0, 0): "PT0S",
    (1, 0, 0): "P1M",
}


@pytest.mark.parametrize("as_rows", [False, True])
def test_intervals_are_those_of_iso_8601(place, as_rows):
    array = pa.array([*INTERVALS, None], pa.month_day_nano_interval())
    place.write(table(v=array).to_pylist() if as_rows else table(v=array))
    if isinstance(place, Postgres):
        assert kept_intervals(place) == [*INTERVALS, None]
        return
    assert_read(place, place.values("v"), [*INTERVALS.values(), None])


def test_intervals_go_into_columns_of_intervals(database):
    """DuckDB itself does not read ISO 8601, and inrush says so."""
    if not isinstance(database, (Postgres, Duckdb)):
        pytest.skip("no such columns")
    database.execute(f"create table {database.table} (v interval)")
    spans = list(INTERVALS)
    if isinstance(database, Duckdb):
        with pytest.raises(inrush.RejectedRows, match="not written as DuckDB writes INTERVAL"):
            database.write(table(v=pa.array(spans, pa.month_day_nano_interval())), if_exists="append")
        assert database.count() == 0
        return
    database.write(table(v=pa.array(spans, pa.month_day_nano_interval())), if_exists="append")
    database.write(table(v=pa.array([-90_500_000, 0], pa.duration("us"))), if_exists="append")
    assert sorted(kept_intervals(database)) == sorted([*spans, (0, 0, -90_500_000_000), (0, 0, 0)])
    bad = []
    database.write(table(v=pa.array([(0, 0, 1)], pa.month_day_nano_interval())), if_exists="append", max_rejects=1, rejects=bad)
    assert [row.column for row in bad] == ["v"]


def test_moments_go_into_columns_of_their_own_sort(database):
    """Neither shifted nor guessed."""
    if isinstance(database, Sqlite):
        pytest.skip("SQLite has no such columns")
    database.execute(f"create table {database.table} (happened {'datetime' if isinstance(database, Mysql) else 'timestamp'})")
    database.write([(dt.datetime(2020, 1, 1),)], if_exists="append")
    wrong = dt.datetime(2020, 1, 1, tzinfo=UTC)
    with pytest.raises(inrush.RejectedRows) as caught:
        database.write([(wrong,)], if_exists="append")
    assert [(row.column, row.code, row.row) for row in caught.value.rows] == [("happened", "type", (wrong,))]
    assert database.values("happened") == [dt.datetime(2020, 1, 1)]


def test_moments_with_a_zone_are_the_same_in_timestamp_columns_of_mysql(database):
    if not isinstance(database, Mysql):
        pytest.skip("MySQL's own")
    database.execute(f"create table {database.table} (happened timestamp(6) null)")
    twice = [dt.datetime(2020, 10, 25, 2, 30, tzinfo=ZURICH), dt.datetime(2020, 10, 25, 2, 30, fold=1, tzinfo=ZURICH)]
    database.write([(value,) for value in [*twice, None]], if_exists="append")
    database.write(table(happened=pa.array([1593604800_000001], pa.timestamp("us", "Europe/Zurich"))), if_exists="append")
    moments = database.ask(f"select unix_timestamp(happened) from {database.table}")[1]
    assert [value for (value,) in moments] == [*(D(str(value.timestamp())) for value in twice), None, D("1593604800.000001")]
    with pytest.raises(inrush.RejectedRows) as caught:
        database.write([(dt.datetime(2120, 1, 1, tzinfo=UTC),)], if_exists="append")
    assert caught.value.rows[0].column == "happened"


def test_durations_are_times_of_mysql(database):
    """As PyMySQL returns the values of such columns."""
    if not isinstance(database, Mysql):
        pytest.skip("MySQL's own")
    database.execute(f"create table {database.table} (took time(6) null)")
    least = dt.timedelta(hours=838, minutes=59, seconds=59)
    took = [dt.timedelta(hours=13.5), dt.timedelta(days=-1, microseconds=1), least, -least, dt.timedelta(0), None]
    database.write([(value,) for value in took], if_exists="append")
    assert database.values("took") == took
    database.write(table(took=pa.array([-90_000_500], pa.duration("us"))), if_exists="append")
    assert database.values("took")[-1] == dt.timedelta(microseconds=-90_000_500)
    with pytest.raises(inrush.RejectedRows) as caught:
        database.write([(least + dt.timedelta(seconds=1),)], if_exists="append")
    assert [(row.column, row.code) for row in caught.value.rows] == [("took", "range")]


def test_moments_without_a_zone_are_no_moments(database):
    if isinstance(database, (Sqlite, Mysql)):
        pytest.skip("only columns with a zone of their own")
    database.execute(f"create table {database.table} (happened timestamptz)")
    wrong = dt.datetime(2020, 1, 1)
    options = {"types": {"happened": "timestamptz"}, "if_exists": "append"}
    with pytest.raises(inrush.RejectedRows) as caught:
        database.write([(dt.datetime(2020, 1, 1, tzinfo=UTC),), (wrong,)], columns=["happened"], **options)
    assert [(row.position, row.row) for row in caught.value.rows] == [(2, (wrong,))]
    assert database.count() == 0


def test_int_beyond_the_column_is_a_bad_row(database):
    database.execute(f"create table {database.table} (id integer)")
    for number in (2**63, 10**40):
        with pytest.raises(inrush.RejectedRows) as caught:
            database.write([(1,), (number,)], if_exists="append")
        (row,) = caught.value.rows
        assert (row.position, row.column, row.row) == (2, "id", (number,))
    assert database.count() == 0


def test_decimal_that_a_column_would_round_is_a_bad_row(database):
    if isinstance(database, Sqlite):
        pytest.skip("SQLite's columns have no scale")
    database.execute(f"create table {database.table} (n decimal(5, 2))")
    database.write([(D("123.45"),), (D("1.1"),), (7,)], if_exists="append")
    for number in (D("1.005"), D("1234")):
        with pytest.raises(inrush.RejectedRows):
            database.write([(number,)], if_exists="append")
    assert database.values("n") == [D("123.45"), D("1.10"), D("7.00")]


def test_numbers_that_are_none(place):
    """NaN and infinity are kept, or told."""
    if isinstance(place, (Csv,)):
        pytest.skip("CSV has no types")
    values = [1.5, float("nan"), float("inf"), float("-inf")]
    place.write([(value,) for value in values], columns={"v": "float"}, max_rejects="all", rejects=(bad := []))
    kept = place.values("v") if place.count() else []
    assert len(kept) + len(bad) == 4
    for row in bad:
        assert (row.column, row.code) == ("v", "type")
        assert not math.isfinite(row.row[0])
    if isinstance(place, (Postgres, Duckdb, Parquet)):
        assert bad == []
    if isinstance(place, (Mysql, Jsonl)):
        assert kept == [1.5]


def test_floats_that_are_no_numbers_make_no_text_of_a_column(place):
    """A list can be read again, so its types are a guess at first; that these are floats is none."""
    if isinstance(place, Csv):
        pytest.skip("CSV has no types")
    bad = []
    report = place.write([(1.5,), (float("nan"),), (2,)], columns=["v"], max_rejects="all", rejects=bad)
    assert [column["type"] for column in report.plan.columns] == ["float"]
    assert_same(place.values("v"), [1.5, 2.0] if bad else [1.5, float("nan"), 2.0])
    if isinstance(place, (Postgres, Duckdb, Parquet)):
        assert bad == []


def test_text_that_is_none_is_a_bad_row(place):
    """Half of a surrogate pair."""
    bad = []
    report = place.write([(1, "a"), (2, "\ud800"), (3, "é")], columns=["id", "v"], max_rejects=1, rejects=bad)
    assert (report.rows_loaded, report.rows_rejected) == (2, 1)
    assert [(row.position, row.column, row.code, row.row) for row in bad] == [(2, "v", "utf-8", (2, "\ud800"))]
    assert place.values("v") == ["a", "é"]


@pytest.mark.parametrize("value", [["\ud800"], {"x": "\ud800"}, {"\ud800": 1}, (1, "\ud800"), pathlib.PurePath("\udcff")])
def test_text_that_is_none_within_a_value_is_a_bad_row(place, value):
    bad = []
    report = place.write([(1, ["a"]), (2, value), (3, ["b"])], columns=["id", "v"], max_rejects=1, rejects=bad)
    assert (report.rows_loaded, report.rows_rejected) == (2, 1)
    assert [(row.position, row.column, row.code) for row in bad] == [(2, "v", "utf-8")]
    assert [str(one) for one in place.values("id")] == ["1", "3"]


def test_nul_is_kept_or_told(place):
    bad = []
    place.write([("a\0b",), ("c",)], columns=["v"], max_rejects=1, rejects=bad)
    if isinstance(place, (Postgres,)) or bad:
        assert [(row.code, row.row) for row in bad] == [("nul", ("a\0b",))]
    else:
        assert place.values("v") == ["a\0b", "c"]


@pytest.mark.parametrize("value", [object(), 1j, fractions.Fraction(1, 2), Point, [{1, "a"}], [{frozenset({1}), frozenset({2})}], [{1.0, float("nan")}], {1, 2}, lambda: 0, np.longdouble(1), np.timedelta64(1, "Y"), {(1, 2): 3}, [object()]])
def test_values_that_no_database_has(sqlite, value):
    with pytest.raises(inrush.UsageError, match="row 2, column v: ") as caught:
        sqlite.write([(1,), (value,)], columns=["v"])
    assert isinstance(caught.value.__cause__, TypeError)
    assert not sqlite.exists()


@pytest.mark.parametrize("value", [{1, 2}, frozenset(), (n for n in range(3)), {"a": 1}.keys(), iter([1]), map(str, [1]), [n for n in [iter([1])]]])
def test_what_is_like_a_list_and_none_is_refused_with_advice(sqlite, value):
    with pytest.raises(inrush.UsageError, match="^row 2, column v: .*: make a list of it$"):
        sqlite.write([([1],), (value,)], columns=["v"])
    assert not sqlite.exists()


@pytest.mark.parametrize("wrap", [lambda value: value, lambda value: [value]])
def test_models_within_a_row_are_refused_with_advice(sqlite, wrap):
    """As pydantic has them, they can be iterated over, and a list of one has lost its names."""

    class Model:
        def model_dump(self):
            return {"a": 1}

        def __iter__(self):
            return iter([("a", 1)])

    with pytest.raises(inrush.UsageError, match=r"^row 2, column v: .*: its model_dump\(\) is a dict$"):
        sqlite.write([([1],), (wrap(Model()),)], columns=["v"])


def test_arrays_of_numpy_keep_moments_and_durations(sqlite):
    moments, spans = np.array(["2020-01-01", "NaT"], "M8[ns]"), np.array([[1, 2]], "m8[ns]")
    record = np.array([(1, "2020-01-01")], dtype=[("a", "i4"), ("b", "M8[ns]")])
    sqlite.write([{"m": moments, "d": spans, "within": {"m": [moments]}, "records": record, "record": record[0], "one": np.array(7), "view": record.view(np.recarray)[0]}])
    assert sqlite.read()[1] == [
        (
            '["2020-01-01T00:00:00.000000000",null]',
            '[["PT0.000000001S","PT0.000000002S"]]',
            '{"m":[["2020-01-01T00:00:00.000000000",null]]}',
            '[[1,"2020-01-01T00:00:00.000000000"]]',
            '[1,"2020-01-01T00:00:00.000000000"]',
            7,
            '[1,"2020-01-01T00:00:00.000000000"]',
        )
    ]


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [{1: "a", "1": "b"}, [{"x": {None: 1, "null": 2}}], {True: 1, "true": 2}, {1.5: 1, "1.5": 2}, types.SimpleNamespace, nested(100_000)],
    ids=["int", "null", "bool", "float", "class", "deep"],
)
def test_documents_that_are_none(sqlite, value):
    """A name that would be there twice, and what no document can hold."""
    with pytest.raises(inrush.UsageError, match="row 2, column v: "):
        sqlite.write([({2: "a", "1": {"1": [1]}},), (value,)], columns=["v"])
    with pytest.raises(inrush.UsageError, match="row 1, column v: "):
        sqlite.write([([collections.UserDict(v=value)],)], columns=["v"])
    assert not sqlite.exists()


def test_values_of_two_gibibytes_are_told(sqlite):
    """Nobody reads these zeros, so they are no memory either."""
    with pytest.raises(inrush.UsageError, match="row 2, column v: a value of 2 GiB or more is too long"):
        sqlite.write([(1, b"x"), (2, bytes(1 << 31))], columns=["id", "v"])
    assert not sqlite.exists()


def test_nanoseconds_are_kept_or_told(place):
    """Of pandas and NumPy: exact, as text, or a bad row; never cut."""
    pd = pytest.importorskip("pandas")
    for table, value, text in [
        ("a", np.datetime64("2020-01-01T00:00:00.000000001"), "2020-01-01T00:00:00.000000001"),
        ("b", pd.Timestamp("2020-01-01 00:00:00.000000001"), "2020-01-01T00:00:00.000000001"),
        ("c", pd.Timedelta(5, "ns"), "PT0.000000005S"),
        ("d", np.timedelta64(-5, "ns"), "PT-0.000000005S"),
        ("e", np.timedelta64(7, "as"), "PT0.000000000000000007S"),
    ]:
        name = f"v{table}"
        place.table = f"{place.table}{table}"
        report = place.write([(value,)], columns=[name], if_exists="replace")
        (kept,) = place.values(name)
        assert report.rows_loaded == 1
        assert str(kept).replace(" ", "T").removesuffix("Z") == text, (value, kept)


def table(**columns):
    return pa.table(columns)


def moments(unit, zone=None):
    """2020-07-01 12:00:00 and a second before 1970."""
    scale = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    return pa.array([1593604800 * scale, -1 * scale, None], pa.timestamp(unit, zone))


NAIVE = [dt.datetime(2020, 7, 1, 12), dt.datetime(1969, 12, 31, 23, 59, 59), None]
AWARE = [value and value.replace(tzinfo=UTC) for value in NAIVE]
CLOCK = [dt.time(1, 2, 3), None, dt.time(23, 59, 59)]

#: Arrays of Arrow, three values each, and what they are in Python.
ARROW = {
    "null": (pa.nulls(3), [None] * 3),
    "bool": (pa.array([True, None, False]), [True, None, False]),
    "int8": (pa.array([-128, 127, None], pa.int8()), [-128, 127, None]),
    "int16": (pa.array([-(2**15), 2**15 - 1, None], pa.int16()), [-(2**15), 2**15 - 1, None]),
    "int32": (pa.array([-(2**31), 2**31 - 1, None], pa.int32()), [-(2**31), 2**31 - 1, None]),
    "int64": (pa.array([-(2**63), 2**63 - 1, None], pa.int64()), [-(2**63), 2**63 - 1, None]),
    "uint8": (pa.array([0, 255, None], pa.uint8()), [0, 255, None]),
    "uint16": (pa.array([0, 2**16 - 1, None], pa.uint16()), [0, 2**16 - 1, None]),
    "uint32": (pa.array([0, 2**32 - 1, None], pa.uint32()), [0, 2**32 - 1, None]),
    "uint64": (pa.array([0, 2**64 - 1, None], pa.uint64()), [0, 2**64 - 1, None]),
    "float16": (pa.array(np.array([1.5, 65504, 2**-24], "float16")), [1.5, 65504.0, 2.0**-24]),
    "float32": (pa.array([0.1, -1.5, None], pa.float32()), [float(np.float32(0.1)), -1.5, None]),
    "float64": (pa.array([0.1, 5e-324, None]), [0.1, 5e-324, None]),
    "decimal32": (pa.array([D("1.10"), D("-9999999.99"), None], pa.decimal32(9, 2)), [D("1.10"), D("-9999999.99"), None]),
    "decimal64": (pa.array([D("1.10"), D("-0.01"), None], pa.decimal64(18, 2)), [D("1.10"), D("-0.01"), None]),
    "decimal128": (pa.array([D("1.10"), D("9" * 28 + ".5"), None], pa.decimal128(38, 10)), [D("1.10"), D("9" * 28 + ".5"), None]),
    "decimal256": (pa.array([D("1" * 60 + ".25"), D("-1.5"), None], pa.decimal256(76, 2)), [D("1" * 60 + ".25"), D("-1.5"), None]),
    "decimal, scale below 0": (pa.array([D("12300"), None, D(0)], pa.decimal128(5, -2)), [D(12300), None, D(0)]),
    "string": (pa.array(["a", "", None]), ["a", "", None]),
    "large string": (pa.array(["a", "é", None], pa.large_string()), ["a", "é", None]),
    "string view": (pa.array(["a", "longer than twelve bytes", None], pa.string_view()), ["a", "longer than twelve bytes", None]),
    "binary": (pa.array([b"\x00\xff", b"a", None]), [b"\x00\xff", b"a", None]),
    "large binary": (pa.array([b"\x00\xff", b"a", None], pa.large_binary()), [b"\x00\xff", b"a", None]),
    "binary view": (pa.array([b"\xff" * 20, b"a", None], pa.binary_view()), [b"\xff" * 20, b"a", None]),
    "fixed binary": (pa.array([b"\x00\xff", b"ab", None], pa.binary(2)), [b"\x00\xff", b"ab", None]),
    "dictionary": (pa.array(["a", "b", None]).dictionary_encode(), ["a", "b", None]),
    "dictionary of ints": (pa.array([5, 5, None]).dictionary_encode(), [5, 5, None]),
    "run ends": (pc.run_end_encode(pa.array([7, 7, None])), [7, 7, None]),
    "run ends of text": (pc.run_end_encode(pa.array(["a", "a", None])), ["a", "a", None]),
    "date32": (pa.array([dt.date(2020, 2, 29), dt.date(1970, 1, 1), None]), [dt.date(2020, 2, 29), dt.date(1970, 1, 1), None]),
    "date64": (pa.array([dt.date(2020, 2, 29), None, None], pa.date64()), [dt.date(2020, 2, 29), None, None]),
    **{f"timestamp {unit}": (moments(unit), NAIVE) for unit in ("s", "ms", "us", "ns")},
    **{f"timestamp {unit}, zone": (moments(unit, "Europe/Zurich"), AWARE) for unit in ("s", "ms", "us", "ns")},
    "timestamp, offset": (moments("us", "+05:30"), AWARE),
    "time32 s": (pa.array(CLOCK, pa.time32("s")), CLOCK),
    "time32 ms": (pa.array(CLOCK, pa.time32("ms")), CLOCK),
    "time64 us": (pa.array([dt.time(1, 2, 3, 4), None, dt.time(0)], pa.time64("us")), [dt.time(1, 2, 3, 4), None, dt.time(0)]),
    "time64 ns": (pa.array([3723 * 10**9 + 5, None, 0], pa.time64("ns")), ["01:02:03.000000005", None, dt.time()]),
    **{
        f"duration {unit}": (pa.array([90_000, -1_000, None], pa.duration(unit)), [dt.timedelta(**{name: 90_000}), dt.timedelta(**{name: -1_000}), None])
        for unit, name in (("s", "seconds"), ("ms", "milliseconds"), ("us", "microseconds"))
    },
    "duration ns": (pa.array([5, 0, None], pa.duration("ns")), ["PT0.000000005S", "PT0S", None]),
    "list": (pa.array([[1, None], [], None], pa.list_(pa.int32())), [[1, None], [], None]),
    "fixed list": (pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int64(), 2)), [[1, 2], None, [3, 4]]),
    "struct": (pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": None}]), [{"a": 1, "b": "x"}, None, {"a": None, "b": None}]),
    "map": (pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())), [{"k": 1}, None, {}]),
    "deep": (pa.array([[{"a": [dt.date(2020, 1, 1)]}], None, []]), [[{"a": ["2020-01-01"]}], None, []]),
}


def test_arrow_values(place):
    arrays = {f"c{at}": array for at, (array, _) in enumerate(ARROW.values())}
    report = place.write(table(**arrays))
    assert report.rows_loaded == 3
    kept = dict(zip(place.read()[0], zip(*place.read()[1])))
    for (label, (_, want)), name in zip(ARROW.items(), arrays):
        try:
            assert_read(place, kept[name], want)
        except AssertionError as error:
            raise AssertionError(f"{label}: {error}") from error


@pytest.mark.parametrize("zone", [None, "Europe/Zurich"])
def test_arrow_moments_of_all_digits(place, zone):
    """The very nanosecond, or text of it."""
    array = pa.array([1593604800123456789, 1, -1, None], pa.timestamp("ns", zone))
    place.write(table(v=array))
    texts = [None if value is None else str(value).replace("T", " ") for value in place.values("v")]
    wanted = ["2020-07-01 12:00:00.123456789", "1970-01-01 00:00:00.000000001", "1969-12-31 23:59:59.999999999", None]
    zones = ("", "Z", "+00", "+00:00") if zone else ("",)
    for got, want in zip(texts, wanted):
        assert got in ([None] if want is None else [want + zone for zone in zones])


def test_arrow_types_keep_slices(place):
    """Offsets of sliced arrays, of each of the types."""
    whole = table(**{f"c{at}": array for at, (array, _) in enumerate(ARROW.values())})
    place.write(whole.slice(1, 2))
    kept = dict(zip(place.read()[0], zip(*place.read()[1])))
    for at, (label, (_, want)) in enumerate(ARROW.items()):
        assert_read(place, kept[f"c{at}"], want[1:])


def test_null_within_a_value_is_null(place):
    """Whatever array it is in: some of them don't say themselves what is NULL."""
    texts = pa.array([None, "x"])
    arrays = {
        "struct": (pa.array([{"a": 1, "b": None}, {"a": 2, "b": None}]), [{"a": 1, "b": None}, {"a": 2, "b": None}]),
        "list": (pa.array([[None], [None, None]]), [[None], [None, None]]),
        "map": (pa.MapArray.from_arrays([0, 1, 2], ["k", "l"], pa.nulls(2)), [{"k": None}, {"l": None}]),
        "dictionary": (pa.StructArray.from_arrays([pa.DictionaryArray.from_arrays([0, 1], texts)], ["d"]), [{"d": None}, {"d": "x"}]),
        "runs": (pa.StructArray.from_arrays([pa.RunEndEncodedArray.from_arrays([1, 2], texts)], ["r"]), [{"r": None}, {"r": "x"}]),
        "union": (pa.UnionArray.from_dense(pa.array([0, 1], pa.int8()), pa.array([0, 1], pa.int32()), [pa.nulls(1), texts]), [None, "x"]),
    }
    place.write(table(**{name: array for name, (array, _) in arrays.items()}))
    for name, (_, want) in arrays.items():
        got = place.values(name)
        if name == "union":
            # A document of its own, which is a text.
            assert [None if one is None else str(one).strip('"') for one in got] == want
        else:
            assert_read(place, got, want)


#: Values that are no texts, and the spelling of NULL that their texts are.
SPELLED = {
    "decimal": (decimal.Decimal("0"), "0"),
    "decimal with a point": (decimal.Decimal("1.50"), "1.50"),
    "beyond 64 bits": (2**70, str(2**70)),
    "time": (dt.time(0, 0), "00:00:00"),
    "uuid": (uuid.UUID(int=5), str(uuid.UUID(int=5))),
    "list": ([], "[]"),
    "dict": ({"a": 1}, '{"a":1}'),
    "bool": (True, "true"),
    "date": (dt.date(2020, 1, 1), "2020-01-01"),
}


@pytest.mark.parametrize("name", SPELLED)
@pytest.mark.parametrize("others", [[], ["x"]])
def test_values_that_are_no_texts_are_not_spelled(place, name, others):
    """Also among texts, which are."""
    value, spelling = SPELLED[name]
    rows = [(number, one) for number, one in enumerate([value, *others, value, spelling] if others else [value, None, value])]
    place.write(rows, columns=["id", "v"], nulls=[spelling])
    plain = place.values("v")
    place.write([(number, None if one is spelling else one) for number, one in rows], columns=["id", "v"], if_exists="replace")
    assert plain == place.values("v")
    assert plain[0] is not None and plain.count(None) == 1 or place.kind == "csv"


def test_numbers_are_spelled_wherever_they_are(sqlite):
    for value, spelling in ((-999, "-999"), (-999.5, "-999.50"), (math.nan, "NaN"), (math.inf, "Infinity")):
        for others in ([type(value)(1)], ["x"], [decimal.Decimal("1.5"), "x"]):
            rows = [(one,) for one in [*others, value, "-998", value]]
            sqlite.write(rows, columns=["v"], nulls=[f"v={spelling}"], if_exists="replace")
            assert [one is None for one in sqlite.values("v")] == [False] * len(others) + [True, False, True], (value, others)


def test_decimals_and_documents_of_frames_are_not_spelled(sqlite):
    rows = {"d": pa.array([decimal.Decimal("0")]), "l": [[]], "w": pa.array([decimal.Decimal("0")], pa.decimal256(60, 0)), "s": ["[]"]}
    sqlite.write(pa.table(rows), nulls=["0", "[]"])
    assert [value is None for value in sqlite.read()[1][0]] == [False, False, False, True]


def test_a_struct_that_is_null_is_a_row_of_nulls(place):
    rows = pa.array([{"a": 1, "b": "x"}, None])
    for given in (rows, pa.chunked_array([rows]), pa.chunked_array([rows])[1:], rows[1:]):
        place.write(given, if_exists="replace")
        want = [(1, "x"), (None, None)][-len(given) :]
        assert_read(place, place.values("a"), [row[0] for row in want])
        assert_read(place, place.values("b"), [row[1] for row in want])
    union = pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])])
    with pytest.raises(inrush.SourceError, match="NULL as a whole"):
        place.write(pa.StructArray.from_arrays([union], ["u"], mask=pa.array([False, True])), if_exists="replace")


#: Documents that MySQL's own JSON would change, and the column's others keep.
CHANGED = [
    "18446744073709551617",
    '{"n": 1.2345678901234567890123}',
    '{"a": 1, "a": 2}',
    '{"a": 1, "\\u0061": 2}',
    "[" * 20 + '{"a": 1, "a": 2}' + "]" * 20,
]
#: Numbers that the server itself rounds, where they are written like this.
ROUNDED = [0.9377384024680091, 927250.9611669705, 2.7715077941825975e-163, 4.2078368972828364e-02]
ROUNDED += [(number * 0.6180339887498949 % 1 - 0.5) * 10 ** (number % 9) for number in range(1, 2_000)]


@pytest.mark.parametrize("way", ["rows", "csv", "jsonl"])
def test_json_is_kept_as_it_is(database, tmp_path, way):
    """MySQL keeps its values only: what it would round or drop is a bad row. Elsewhere it is a text."""
    if not isinstance(database, Mysql):
        pytest.skip("no JSON of its own")
    database.execute(f"create table {database.table} (v json)")
    documents = [json.dumps({"v": one}) for one in ROUNDED] + ['{"n": 18446744073709551615, "m": -0.0, "x": 1.10, "e": 1E2}'] + CHANGED
    bad = []
    options = {"if_exists": "append", "max_rejects": "all", "rejects": bad}
    if way == "rows":
        database.write([(document,) for document in documents], columns=["v"], **options)
    else:
        source = tmp_path / f"v.{way}"
        quoted = (document.replace('"', '""') for document in documents)
        lines = ["v", *(f'"{document}"' for document in quoted)] if way == "csv" else [f'{{"v": {document}}}' for document in documents]
        source.write_text("\n".join(lines) + "\n")
        inrush.load(source, database.url, table=database.table, progress=False, lanes=1, **options)
    is_text = database.ask(f"show create table {database.table}")[1][0][1].count("longtext") > 0
    kept = [json.loads(one) for one in database.values("v")]
    assert len(kept) == len(ROUNDED) + 1 + (len(CHANGED) if is_text else 0)
    assert [one["v"] for one in kept[: len(ROUNDED)]] == ROUNDED
    assert kept[len(ROUNDED)] == {"n": 2**64 - 1, "m": 0.0, "x": 1.1, "e": 100.0}
    assert [row.code for row in bad] == ([] if is_text else ["range", "range", "type", "type", "type"])


def test_arrow_uuid_and_json(database):
    array = pa.array([UUID.bytes, None], pa.uuid())
    documents = pa.array(['{"a": 1.10}', None], pa.json_())
    database.write(table(u=array, j=documents))
    assert same(database.values("u")[0], UUID)
    assert str(database.values("j")[0]) == '{"a": 1.10}'


def test_arrow_nan_is_a_value(place):
    """Kept where the target has it, else a bad row."""
    bad = []
    place.write(table(v=pa.array([1.5, float("nan"), None])), max_rejects=1, rejects=bad)
    if bad:
        assert [(row.position, row.column) for row in bad] == [(2, "v")]
        assert_same(place.values("v"), [1.5, None])
    else:
        assert_same(place.values("v"), [1.5, float("nan"), None])


def test_texts_that_stand_for_null(place):
    rows = [(1, "a"), (2, "NA"), (-1, "-1")]
    place.write(rows, columns=["id", "v"], nulls=["NA", "v=a"])
    assert_read(place, place.values("v"), [None, None, "-1"])
    with place.writer(if_exists="append", columns=["id", "v"], nulls=["-1"]) as writer:
        writer.insert_many(rows)
    # As in a file, a spelling is one of numbers, too.
    assert_read(place, place.values("v")[3:], ["a", "NA", None])
    assert_read(place, place.values("id")[3:], [1, 2, None])


def test_types_that_are_said(database):
    report = database.write([("1", 2, "3.50")], columns={"a": "integer", "b": "text", "c": "decimal(5,2)"})
    assert [column["type"] for column in report.plan.columns][:2] == ["integer", "text"]
    (row,) = database.read()[1]
    assert row[:2] == (1, "2")
    assert decimal.Decimal(row[2]) == D("3.50")


def test_values_against_types_that_are_said(database):
    with pytest.raises(inrush.RejectedRows) as caught:
        database.write([(1,), ("x",)], columns={"a": "integer"})
    assert [(row.position, row.column, row.code, row.row) for row in caught.value.rows] == [(2, "a", "type", ("x",))]
    assert not database.exists()


def test_text_of_arrow_that_is_none(place):
    """A producer that breaks Arrow's rules is told so, whatever the target would make of it."""
    offsets = pa.py_buffer(np.array([0, 1], "int32").tobytes())
    broken = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(b"\xff")])
    with pytest.raises(inrush.SourceError, match="column a: .*UTF"):
        place.write(pa.table({"a": broken}))


def test_bytes_that_another_database_calls_values_are_told(sqlite):
    field = pa.field("a", pa.opaque(pa.binary(), "inet", "PostgreSQL"))
    report = sqlite.write(pa.table([pa.array([b"\x02\x20"], pa.binary()).cast(pa.binary())], schema=pa.schema([field])))
    assert sqlite.values("a") == [b"\x02\x20"]
    assert any("PostgreSQL's type inet" in warning for warning in report.warnings)
