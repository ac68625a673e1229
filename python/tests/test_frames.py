"""Frames and results of other libraries, as they are."""

import datetime as dt
import decimal
import re
import time
import uuid
import warnings
from decimal import Decimal as D

import pytest
from conftest import Csv, Sqlite, assert_same

import inrush

pa = pytest.importorskip("pyarrow")

WANTED = [(1, "a", 0.5), (2, None, None), (3, "é", -1.5)]
NAMES = ["id", "name", "score"]


def arrow():
    return pa.table({name: list(column) for name, column in zip(NAMES, zip(*WANTED))})


def make_polars():
    polars = pytest.importorskip("polars")
    return polars.DataFrame(WANTED, schema=NAMES, orient="row")


def make_pandas():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(WANTED, columns=NAMES)


def make_duckdb(as_result=False):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    query = "select * from (values (1, 'a', 0.5::double), (2, null, null), (3, 'é', -1.5)) as t(id, name, score)"
    return connection.execute(query) if as_result else connection.sql(query)


class OnlyStream:
    def __init__(self, frame):
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return self._frame.__arrow_c_stream__(requested_schema)


class OnlyArray:
    def __init__(self, batch):
        self._batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self._batch.__arrow_c_array__(requested_schema)


FRAMES = {
    "pyarrow table": arrow,
    "pyarrow batch": lambda: arrow().to_batches()[0],
    "pyarrow reader": lambda: arrow().to_reader(),
    "pyarrow chunks": lambda: pa.concat_tables([arrow().slice(0, 1), arrow().slice(1)]),
    "pyarrow chunks without rows": lambda: pa.concat_tables([arrow().slice(3), arrow().slice(0, 1), arrow().slice(3), arrow().slice(1)]),
    "pyarrow struct array": lambda: arrow().to_struct_array(),
    "a stream": lambda: OnlyStream(arrow()),
    "an array": lambda: OnlyArray(arrow().to_batches()[0]),
    "polars": make_polars,
    "pandas": make_pandas,
    "duckdb relation": make_duckdb,
    "duckdb result": lambda: make_duckdb(as_result=True),
    "adbc result": lambda: None,
    "adbc cursor": lambda: None,
}


@pytest.fixture
def adbc():
    dbapi = pytest.importorskip("adbc_driver_sqlite.dbapi")
    with dbapi.connect() as connection, connection.cursor() as cursor:
        cursor.execute("create table t (id integer, name text, score real)")
        cursor.execute("insert into t values (1, 'a', 0.5), (2, null, null), (3, 'é', -1.5)")
        cursor.execute("select * from t")
        yield cursor


def frame_of(name, request):
    if not name.startswith("adbc"):
        return FRAMES[name]()
    cursor = request.getfixturevalue("adbc")
    return cursor if name == "adbc cursor" else cursor.fetch_record_batch()


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.filterwarnings("ignore:Arrow output on a DB-API result")
def test_frames(sqlite, frame, request):
    assert sqlite.write(frame_of(frame, request)).rows_loaded == 3
    assert sqlite.read() == (NAMES, WANTED)


@pytest.mark.filterwarnings("ignore:Arrow output on a DB-API result")
def test_frames_into_every_target(place, request):
    frames = [name for name in FRAMES if name != "adbc cursor"]
    for name in frames:
        if_exists = "append" if place.exists() else "empty"
        assert place.write(frame_of(name, request), if_exists=if_exists).rows_loaded == 3, name
    for at, name in enumerate(NAMES):
        assert_same(place.values(name), [row[at] for row in WANTED] * len(frames))


def test_a_query_of_one_database_into_another(database, sqlite, adbc):
    adbc.execute("with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) select i, 'row ' || i as name from n")
    assert database.write(adbc.fetch_record_batch()).rows_loaded == 5_000
    assert database.read()[1][-1] == (5_000, "row 5000")


@pytest.mark.filterwarnings("ignore:Arrow output on a DB-API result")
@pytest.mark.parametrize("frame", [name for name in FRAMES if not name.startswith("adbc")])
def test_writers_take_frames(sqlite, frame):
    """And rows of Python besides, whichever comes first."""
    with sqlite.writer() as rows:
        rows.write(FRAMES[frame]())
        rows.insert({"name": "later", "id": 4})
        rows.write(FRAMES[frame]())
    assert rows.report.rows_loaded == 7
    assert sqlite.read() == (NAMES, [*WANTED, (4, "later", None), *WANTED])


def test_writers_find_columns_by_name(sqlite):
    with sqlite.writer(missing_columns="null") as rows:
        rows.insert({"id": 1, "name": "a"})
        rows.write(pa.table({"name": ["b"], "id": [2]}))
        rows.write(pa.table({"id": [3]}))
        rows.write(make_polars().select("name", "id"))
    assert sqlite.read()[1] == [(1, "a"), (2, "b"), (3, None), *((row[0], row[1]) for row in WANTED)]
    for columns in (None, ["id", "name"]):
        with pytest.raises(inrush.UsageError, match="column 'other'"), sqlite.writer(if_exists="append", columns=columns) as rows:
            rows.insert({"id": 1, "name": "a"})
            rows.write(pa.table({"id": [2], "other": [3]}))
    assert sqlite.count() == 6


def test_types_of_later_frames(sqlite):
    """The first one says what the columns are; the values of others have to fit."""
    with sqlite.writer() as rows:
        rows.write(pa.table({"v": pa.array([1, 2], pa.int64())}))
        rows.write(pa.table({"v": pa.array([3], pa.uint8())}))
        rows.write(pa.table({"v": pa.array(["4"])}))
    assert sqlite.values("v") == [1, 2, 3, 4]
    with pytest.raises(inrush.RejectedRows) as caught, sqlite.writer(if_exists="append") as rows:
        rows.write(pa.table({"v": [5]}))
        rows.write(pa.table({"v": ["x"]}))
    assert [(row.position, row.column) for row in caught.value.rows] == [(2, "v")]
    assert sqlite.count() == 4


def test_polars_types(sqlite):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {
            "category": pl.Series(["x", "y", None], dtype=pl.Categorical),
            "enum": pl.Series(["x", "y", None], dtype=pl.Enum(["x", "y"])),
            "decimal": pl.Series([D("1.10"), D("-2"), None], dtype=pl.Decimal(20, 2)),
            "time": pl.Series([dt.time(1, 2, 3, 4), dt.time(0), None]),
            "duration": pl.Series([dt.timedelta(days=1, microseconds=5), dt.timedelta(0), None]),
            "zone": pl.Series([dt.datetime(2020, 7, 1, 12), dt.datetime(2020, 1, 1, 12), None]).dt.replace_time_zone("Europe/Zurich"),
            "list": pl.Series([[1, None], [], None]),
            "struct": pl.Series([{"a": 1}, {"a": None}, None]),
            "array": pl.Series([[1, 2], [3, 4], None], dtype=pl.Array(pl.Int8, 2)),
            "bytes": pl.Series([b"\xff", b"", None]),
            "u64": pl.Series([2**64 - 1, 0, None], dtype=pl.UInt64),
            "i128": pl.Series([2**100, -(2**100), None], dtype=pl.Int128),
            "i128 at its end": pl.Series([2**127 - 1, -(2**127), None], dtype=pl.Int128),
            "null": pl.Series([None, None, None]),
            "bool": pl.Series([True, False, None]),
        }
    )
    wanted = {name: frame[name].to_list() for name in frame.columns}
    wanted["zone"] = [dt.datetime(2020, 7, 1, 10, tzinfo=dt.timezone.utc), dt.datetime(2020, 1, 1, 11, tzinfo=dt.timezone.utc), None]
    sqlite.write(frame)
    for name, values in wanted.items():
        assert_same(sqlite.values(name), values)


def test_polars_that_is_no_frame(sqlite):
    pl = pytest.importorskip("polars")
    with pytest.raises(inrush.UsageError, match="collect"):
        sqlite.write(pl.LazyFrame({"a": [1]}))
    with pytest.raises(inrush.UsageError, match="column v"):
        sqlite.write(pl.DataFrame({"v": pl.Series([object()], dtype=pl.Object)}))
    sqlite.write(pl.Series("v", [1, 2]))
    assert sqlite.values("v") == [1, 2]


CHANGED = {
    "uhugeint": "1::uhugeint",
    "time with time zone": "'12:00:00+02'::timetz",
    "bit": "'101'::bit",
    "variant": "1::variant",
}


@pytest.mark.parametrize("name", CHANGED)
@pytest.mark.parametrize("within", ["{}", "[{}]", "{{'a': {}}}", "map {{'k': {}}}", "[[{}]]"])
def test_what_duckdb_s_arrow_changes_is_refused(sqlite, name, within):
    """What it makes of these are other values."""
    duckdb = pytest.importorskip("duckdb")
    query = f"""select 1 as id, {within.format(CHANGED[name])} as "a b" """
    with duckdb.connect() as connection:
        for rows in (lambda: connection.sql(query), lambda: connection.execute(query)):
            with pytest.raises(inrush.UsageError, match=f"column a b has values of DuckDB's type {name}, .*: cast") as caught:
                sqlite.write(rows())
            with pytest.raises(inrush.UsageError, match="column a b"), sqlite.writer() as writer:
                writer.write(rows())
        if within == "{}":
            cast = re.search(r'"a b"::\S+', str(caught.value))[0]
            sqlite.write(connection.cursor().sql(f"select {cast} as v from ({query})"))
            assert [str(value) for value in sqlite.values("v")] == [{"uhugeint": "1", "bit": "101", "variant": "1"}.get(name, "12:00:00+02")]


@pytest.mark.parametrize("value", ["1::bignum", "1::varint"])
def test_numbers_without_end_within_others_are_refused(sqlite, value):
    """They would be the bytes in which DuckDB keeps them."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        try:
            rows = connection.sql(f"select {{'a': [{value}]}} as v")
        except duckdb.Error:
            pytest.skip(f"this DuckDB has no {value}")
        with pytest.raises(inrush.UsageError, match="column v has values of DuckDB's type"):
            sqlite.write(rows)


@pytest.mark.parametrize("type", ["timestamp", "timestamptz", "timestamp_s", "timestamp_ms", "date"])
def test_what_duckdb_has_for_infinity_is_a_bad_row(database, type):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        query = f"select * from (values (1, 'infinity'::{type}), (2, '-infinity'), (3, '2020-01-02'), (4, null)) as t(id, v)"
        refused = []
        report = database.write(connection.sql(query), max_rejects="all", rejects=refused)
        assert (report.rows_loaded, report.rows_rejected) == (2, 2)
        if type not in ("timestamp_s", "timestamp_ms"):
            assert all("DuckDB writes for infinity" in row.message for row in refused)
        assert database.values("id") == [3, 4]


def test_results_of_duckdb_are_loaded_without_its_warnings(sqlite):
    """Which of its calls copies less is no concern of the program's."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection, warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(inrush.UsageError, match=r"has no rows before a query: write what its sql\(QUERY\)"):
            sqlite.write(connection)
        sqlite.write(connection.execute("select 1 as a"))
        with sqlite.writer(if_exists="append") as rows:
            rows.write(connection.execute("select 2 as a"))
        assert sqlite.values("a") == [1, 2]
        result = connection.execute("select 3 as a")
        result.fetchall()
        try:
            sqlite.write(result, if_exists="append")
        except inrush.UsageError as error:
            assert "have been read" in str(error)
    assert sqlite.values("a") == [1, 2]


def test_results_of_older_versions_of_duckdb_are_loaded(sqlite):
    """They say of a column that it is of numbers, and nothing more of its type."""
    pa = pytest.importorskip("pyarrow")

    class Result:
        __module__ = "duckdb"
        description = [("v", "NUMBER", None, None, None, None, None)]

        def fetch_record_batch(self):
            return pa.RecordBatchReader.from_batches(pa.schema({"v": pa.int64()}), [pa.record_batch({"v": [1, 2]})])

    sqlite.write(Result())
    assert sqlite.values("v") == [1, 2]


def test_polars_nested_nulls(sqlite):
    pl = pytest.importorskip("polars")
    values = [{"x": 1, "y": None, "z": [None]}]
    sqlite.write(pl.DataFrame({"v": values, "w": [[None, None]]}))
    assert_same(sqlite.values("v"), values)
    assert_same(sqlite.values("w"), [[None, None]])
    with sqlite.writer(if_exists="append") as rows:
        rows.write(pl.DataFrame({"v": values, "w": [[None]]}))
    assert sqlite.count() == 2


@pytest.fixture(params=["by PyArrow", "without PyArrow"])
def pandas(request, monkeypatch):
    """With PyArrow, and as it is where that is not installed."""
    pandas = pytest.importorskip("pandas")
    if request.param == "without PyArrow":
        monkeypatch.setattr("inrush._api._arrow_of", lambda frame: None)
    return pandas


def test_pandas_nothing_is_null(sqlite, pandas):
    import numpy

    frame = pandas.DataFrame(
        {
            "float": [1.5, float("nan"), None],
            "object": ["a", None, float("nan")],
            "int": pandas.array([1, None, pandas.NA], dtype="Int64"),
            "bool": pandas.array([True, None, pandas.NA], dtype="boolean"),
            "moment": pandas.to_datetime(["2020-01-01 01:02:03", None, pandas.NaT]),
            "duration": pandas.to_timedelta([5, None, pandas.NaT], unit="s"),
            "category": pandas.Categorical(["x", None, numpy.nan]),
            "mixed": pandas.Series([1, pandas.NaT, pandas.NA], dtype=object),
        }
    )
    sqlite.write(frame)
    wanted = (1.5, "a", 1, 1, dt.datetime(2020, 1, 1, 1, 2, 3), dt.timedelta(seconds=5), "x", 1)
    rows = sqlite.read()[1]
    assert_same(rows[0], wanted)
    assert rows[1:] == [(None,) * 8] * 2


def test_pandas_index(sqlite, pandas):
    frame = pandas.DataFrame({"v": [1, 2]}, index=[7, 8])
    sqlite.write(frame)
    assert sqlite.read() == (["v"], [(1,), (2,)])
    frame.index.name = "k"
    sqlite.write(frame, if_exists="replace")
    assert sqlite.read() == (["k", "v"], [(7, 1), (8, 2)])
    assert list(frame.columns) == ["v"]
    several = pandas.DataFrame({"v": [1]}, index=pandas.MultiIndex.from_tuples([("a", 2)], names=["x", "y"]))
    sqlite.write(several, if_exists="replace")
    assert sqlite.read() == (["x", "y", "v"], [("a", 2, 1)])
    several.index.names = ["x", "x"]
    with pytest.raises(inrush.UsageError, match="two levels of the index are called 'x': frame.index.set_names"):
        sqlite.write(several, if_exists="replace")
    with sqlite.writer(if_exists="replace") as rows:
        rows.write(pandas.DataFrame({"v": [1.5, None]}, index=[7, 8]))
    assert sqlite.read() == (["v"], [(1.5,), (None,)])


def test_pandas_index_that_is_left_out_is_told(sqlite, pandas):
    days = pandas.date_range("2024-01-01", periods=2)
    frame = pandas.DataFrame({"v": [1, 2]}, index=days)
    (warning,) = sqlite.write(frame).warnings
    assert warning.startswith("the index has no name and is left out"), warning
    assert sqlite.write(frame.rename_axis("day"), if_exists="replace").warnings == []
    assert sqlite.write(frame.reset_index(), if_exists="replace").warnings == []
    assert sqlite.write(frame.reset_index(drop=True), if_exists="replace").warnings == []
    with sqlite.writer(if_exists="replace") as rows:
        rows.write(frame)
        rows.write(frame)
    assert rows.report.warnings == [warning]
    frame.index = pandas.MultiIndex.from_arrays([days, ["a", "b"]], names=[None, "k"])
    (warning,) = sqlite.write(frame, if_exists="replace").warnings
    assert warning.startswith("level 0 of the index has no name"), warning


def test_pandas_index_that_is_a_column(sqlite, pandas):
    frame = pandas.DataFrame({"id": [7, 8], "v": [1, 2]}).set_index("id", drop=False)
    sqlite.write(frame)
    assert sqlite.read() == (["id", "v"], [(7, 1), (8, 2)])
    frame["id"] = [1, 2]
    with pytest.raises(inrush.UsageError, match="both the index and a column are called 'id'"):
        sqlite.write(frame, if_exists="replace")
    frame.index = pandas.MultiIndex.from_tuples([(1, "a"), (2, "b")], names=[None, "k"])
    sqlite.write(frame, if_exists="replace")
    assert sqlite.read() == (["k", "id", "v"], [("a", 1, 1), ("b", 2, 2)])


def test_pandas_children(sqlite, pandas):
    class Child(pandas.DataFrame):
        @property
        def _constructor(self):
            return Child

    frame = Child({"v": [{"x": 1}, {"y": 2}], "n": [1, float("nan")], "k": [5, 6]}, index=[8, 9])
    sqlite.write(frame[frame.k > 5])
    assert sqlite.read()[0] == ["v", "n", "k"]
    assert_same(sqlite.read()[1][0], ({"y": 2}, None, 6))


def test_pandas_nan_in_columns_that_have_null(sqlite, pandas):
    arrow = pytest.importorskip("pyarrow")
    own = pandas.array([1.5, 0.0, None], dtype="Float64") / pandas.array([1, 0, 1], dtype="Float64")
    others = pandas.array(arrow.array([1.5, float("nan"), None]), dtype=pandas.ArrowDtype(arrow.float64()))
    sqlite.write(pandas.DataFrame({"own": own, "arrow": others}))
    assert sqlite.read()[1] == [(1.5, 1.5), (None, None), (None, None)]


def test_pandas_objects(sqlite, pandas):
    """Of which PyArrow would change some: keys that only one of the dicts has, moments with a zone and without."""
    one = uuid.UUID(int=1)
    frame = pandas.DataFrame(
        {
            "dicts": [{"a": 1}, {"b": 2}],
            "uuids": [one, None],
            "big": [2**70, 1],
            "moments": pandas.Series([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc)], dtype=object),
            "decimals": [D("1.10"), D("2.5")],
            "mixed": [1, "a"],
            "text": ["a", "b"],
        }
    )
    sqlite.write(frame)
    first, second = sqlite.read()[1]
    assert_same(first[:3], ({"a": 1}, one, 2**70))
    assert_same(second[:3], ({"b": 2}, None, 1))
    assert ("+" in first[3], "+" in second[3]) == (False, True)
    assert [decimal.Decimal(row[4]) for row in (first, second)] == [D("1.10"), D("2.5")]
    assert [row[5:] for row in (first, second)] == [("1", "a"), ("a", "b")]


def test_pandas_nanoseconds(place, pandas):
    frame = pandas.DataFrame({"v": pandas.to_datetime(["2020-01-01 00:00:00.000000001", None])})
    place.write(frame)
    value, nothing = place.values("v")
    assert (str(value).replace("T", " "), nothing) == ("2020-01-01 00:00:00.000000001", None)


def test_pandas_that_no_database_has(sqlite, pandas):
    for values in (pandas.period_range("2020", periods=2), [1j, 2j], pandas.Series([object()], dtype=object)):
        with pytest.raises(inrush.UsageError, match="row 1, column v"):
            sqlite.write(pandas.DataFrame({"v": values}))


def test_pandas_dates_and_times_that_arrow_would_cut(sqlite, pandas):
    """Also as categories, and periods as categories."""
    moment, zone = dt.datetime(2020, 1, 1, 5), dt.timezone(dt.timedelta(hours=2))
    for values, wanted in [
        ([dt.date(2020, 1, 1), moment], ["2020-01-01", "2020-01-01 05:00:00"]),
        ([moment, moment.replace(tzinfo=zone)], ["2020-01-01 05:00:00", "2020-01-01 03:00:00+00:00"]),
        ([dt.time(1, 2, tzinfo=zone), dt.time(3, 4)], ["01:02:00+02:00", "03:04:00"]),
    ]:
        for dtype in (object, "category"):
            sqlite.write(pandas.DataFrame({"v": pandas.Series(values, dtype=object).astype(dtype)}), if_exists="replace")
            assert sqlite.values("v") == wanted
    for dtype in (object, "category"):
        sqlite.write(pandas.DataFrame({"v": pandas.Series([dt.date(2020, 1, 1), None], dtype=object).astype(dtype)}), if_exists="replace")
        assert sqlite.values("v") == ["2020-01-01", None]
    periods = pandas.Series(pandas.period_range("2020-01", periods=2, freq="M")).astype("category")
    with pytest.raises(inrush.UsageError, match=r"row 1, column v: .*Period: .*astype\(str\) .*dt.to_timestamp"):
        sqlite.write(pandas.DataFrame({"v": periods}), if_exists="replace")


def test_pandas_series_and_odd_names(sqlite, pandas):
    sqlite.write(pandas.Series([1, 2], name="x"))
    assert sqlite.values("x") == [1, 2]
    sqlite.write(pandas.DataFrame([[1, 2]], columns=["a", "a"]), if_exists="replace")
    assert sqlite.read() == (["a", "a_2"], [(1, 2)])
    sqlite.write(pandas.DataFrame([[1, 2]]), if_exists="replace")
    assert sqlite.read() == (["0", "1"], [(1, 2)])


def test_pandas_bad_rows_are_told_as_dicts(sqlite, pandas):
    with pytest.raises(inrush.RejectedRows) as caught:
        sqlite.write(pandas.DataFrame({"a": ["1", "x"]}), types={"a": "integer"})
    (row,) = caught.value.rows
    assert (row.position, row.column) == (2, "a")
    assert row.row in ({"a": "x"}, ("x",))


def test_numpy(sqlite):
    numpy = pytest.importorskip("numpy")
    sqlite.write(numpy.array([[1, 2], [3, 4]]), columns=["a", "b"])
    assert sqlite.read()[1] == [(1, 2), (3, 4)]
    records = numpy.array([(1, 0.5, "2020-01-01T00:00:00.000000001")], dtype=[("a", "i4"), ("b", "f8"), ("c", "M8[ns]")])
    sqlite.write(records, if_exists="replace")
    assert sqlite.read() == (["a", "b", "c"], [(1, 0.5, "2020-01-01 00:00:00.000000001")])
    for wrong in (numpy.arange(3), numpy.array(5), records[0], records.reshape(1, 1)):
        with pytest.raises(inrush.UsageError, match="dimensions is no table"):
            sqlite.write(wrong)


def test_nan_is_the_same_to_a_writer(tmp_path):
    """NULL in a frame of pandas, and a value elsewhere."""
    numpy = pytest.importorskip("numpy")
    pandas = pytest.importorskip("pandas")
    records = numpy.array([(1, float("nan"))], dtype=[("a", "i8"), ("b", "f8")])
    for number, (make, wanted) in enumerate([(lambda: records, "1,NaN"), (lambda: pandas.DataFrame({"a": [1, "x"], "b": [float("nan")] * 2}), "1,")]):
        one, other = (tmp_path / f"{number}{which}.csv" for which in "ab")
        inrush.write(make(), f"csv:{one}", progress=False)
        with inrush.Writer(f"csv:{other}", progress=False) as rows:
            rows.write(make())
        assert one.read_text() == other.read_text()
        assert one.read_text().splitlines()[1] == wanted


def test_a_frame_without_columns(sqlite):
    polars = pytest.importorskip("polars")
    with pytest.raises(inrush.SourceError, match="the DataFrame has no columns, so there is nothing to load"):
        sqlite.write(polars.DataFrame())
    with pytest.raises(inrush.SourceError, match="the DataFrame has no columns"), sqlite.writer() as rows:
        rows.write(polars.DataFrame())


def test_numpy_masks_are_null(sqlite):
    numpy = pytest.importorskip("numpy")
    sqlite.write(numpy.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]]), columns=["a", "b"])
    assert sqlite.read()[1] == [(1, None), (3, 4)]


@pytest.mark.parametrize("form", ["alone", "beside objects", "category", "object", "rows"])
def test_pandas_intervals_are_their_text(sqlite, pandas, form):
    """With which of their ends are part of them."""
    made = pandas.Series(pandas.arrays.IntervalArray.from_tuples([(0, 4), (4.5, 8), None], closed="left"))
    if form == "category":
        made = made.astype("category")
    elif form == "object":
        made = made.astype(object)
    frame = pandas.DataFrame({"v": made})
    if form == "beside objects":
        frame["o"] = [1, "x", None]
    sqlite.write(frame.to_dict("records") if form == "rows" else frame, nulls="NaN" if form == "rows" else None)
    assert sqlite.values("v")[:2] == ["[0.0, 4.0)", "[4.5, 8.0)"]
    assert sqlite.values("v")[2] is None


def test_pandas_columns_of_several_levels(sqlite, pandas):
    frame = pandas.DataFrame({"k": ["a", "a"], "v": [1, 2]}).groupby("k").agg({"v": ["sum", "mean"]})
    with pytest.raises(inrush.UsageError, match="columns of several levels are called 'v'"):
        sqlite.write(frame.rename_axis("v"))
    frame.columns = ["_".join(map(str, name)) for name in frame.columns]
    sqlite.write(frame)
    assert sqlite.read() == (["k", "v_sum", "v_mean"], [("a", 3, 1.5)])


def test_polars_integers_of_128_bits_at_any_depth(sqlite):
    polars = pytest.importorskip("polars")
    for number, wanted in ((2**100, str(2**100)), (2**127 - 1, f'"{2**127 - 1}"')):
        frame = polars.DataFrame(
            {
                "list": polars.Series([[number]], dtype=polars.List(polars.Int128)),
                "array": polars.Series([[number]], dtype=polars.Array(polars.Int128, 1)),
                "struct": polars.Series([{"a": number}], dtype=polars.Struct({"a": polars.Int128})),
            }
        )
        sqlite.write(frame, if_exists="replace")
        assert sqlite.read()[1] == [(f"[{wanted}]", f"[{wanted}]", f'{{"a":{wanted}}}')]


def test_what_is_no_table(sqlite):
    for wrong in (pa.array([1, 2]), pa.chunked_array([[1, 2]]), pa.schema([("a", pa.int64())])):
        with pytest.raises(inrush.Error):
            sqlite.write(wrong)
    with pytest.raises(inrush.UsageError, match="columns="):
        sqlite.write(arrow(), columns=["a", "b", "c"])
    with pytest.raises(inrush.Error):
        sqlite.write(pa.table({}))


def test_a_reader_that_fails(place):
    """In the middle: what its producer says comes out, and nothing is loaded."""
    schema = pa.schema([("v", pa.int64())])

    def batches():
        for number in range(20):
            yield pa.record_batch({"v": [number] * 1_000})
        raise RuntimeError("the producer is gone")

    with pytest.raises(inrush.SourceError, match="the producer is gone") as caught:
        place.write(pa.RecordBatchReader.from_batches(schema, batches()))
    assert caught.value.aftermath == "nothing-changed"
    assert not place.exists()


def test_a_reader_is_for_once(sqlite):
    reader = arrow().to_reader()
    sqlite.write(reader)
    assert sqlite.write(reader, if_exists="append").rows_loaded == 0
    assert sqlite.count() == 3


def test_frames_are_not_copied_or_changed(sqlite):
    frame = make_pandas()
    before = frame.copy(deep=True)
    sqlite.write(frame)
    assert frame.equals(before) and list(frame.columns) == list(before.columns)


@pytest.mark.parametrize("make", [make_polars, make_pandas, arrow])
def test_the_same_frame_again(tmp_path, make):
    frame = make()
    for number in range(2):
        target = Sqlite(tmp_path)
        target.table = f"t{number}"
        assert target.write(frame).rows_loaded == 3


def test_how_texts_are_read_is_not_said_of_a_frame_s_other_columns(sqlite):
    """Decimals beyond 38 digits, which encoders take as texts, beside texts."""
    numbers = [D("1.234"), None]
    table = pa.table(
        {
            "wide": pa.array(numbers, pa.decimal256(50, 3)),
            "narrow": pa.array(numbers, pa.decimal128(20, 3)),
            "text": ["1.234", None],
            "words": pa.array(["1.234", None]).dictionary_encode(),
        }
    )
    types = {name: "float" for name in table.column_names}
    sqlite.write(table, types=types, decimal=",", thousands=".")
    assert sqlite.read()[1] == [(1.234, 1.234, 1234.0, 1234.0), (None,) * 4]


def test_clocks_of_a_frame_are_those_of_the_zone_that_is_said(place):
    if isinstance(place, Csv):
        pytest.skip("CSV has no types")
    table = pa.table({"at": pa.array([dt.datetime(2024, 7, 1, 12), None], pa.timestamp("us"))})
    place.write(table, time_zone="at=Europe/Berlin")
    assert_same(place.values("at"), [dt.datetime(2024, 7, 1, 10, tzinfo=dt.timezone.utc), None])


def test_a_parquet_file_of_a_type_that_is_not_supported_is_refused_as_a_whole(tmp_path, sqlite):
    """Its other columns have types that only that description of them has: a duration would be a number."""
    polars = pytest.importorskip("polars")
    took = polars.Series("took", [dt.timedelta(days=1, microseconds=5), None])
    huge = polars.Series("huge", [2**100, 1], dtype=polars.Int128)
    polars.DataFrame([took, huge]).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(inrush.SourceError, match="bit width of 128"):
        inrush.load(tmp_path / "t.parquet", sqlite.url, table=sqlite.table)
    polars.DataFrame([took]).write_parquet(tmp_path / "t.parquet")
    inrush.load(tmp_path / "t.parquet", sqlite.url, table=sqlite.table)
    assert sqlite.read() == (["took"], [("PT86400.000005S",), (None,)])


def test_a_damaged_page_of_a_parquet_file_is_found_by_its_checksum(tmp_path, sqlite):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    table = pa.table({"a": range(1000)})
    parquet.write_table(table, path, write_page_checksum=True, compression="none", use_dictionary=False)
    whole = path.read_bytes()
    path.write_bytes(whole[:500] + bytes([whole[500] ^ 1]) + whole[501:])
    with pytest.raises(inrush.SourceError, match="CRC"):
        inrush.load(path, sqlite.url, table=sqlite.table)


def frames_of(library):
    """Makes frames of columns by name, whose values may be nothing but None."""
    module = pytest.importorskip(library)
    if library == "pyarrow":
        return module.table
    if library == "pandas":
        return lambda columns: module.DataFrame({name: module.Series(values, dtype=object) for name, values in columns.items()})
    return module.DataFrame


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "rows"])
@pytest.mark.parametrize("end", ["end", "batch"])
def test_columns_without_a_value_have_the_type_of_a_later_frame(sqlite, library, end):
    """They became columns of text."""
    frame = frames_of("pyarrow" if library == "rows" else library)
    with sqlite.writer(commit=end) as rows:
        first = {"id": [1, 2], "n": [None, None], "x": [None, None]}
        if library == "rows":
            rows.insert_many(dict(zip(first, row)) for row in zip(*first.values()))
        else:
            rows.write(frame(first))
        rows.write(frame({"id": [3], "n": [7], "x": [None]}))
        rows.insert({"id": 4, "n": None, "x": None})
        rows.write(frame({"n": [8], "x": [1.5], "id": [5]}))
    assert rows.report.rows_loaded == 5
    assert [sqlite.values(name) for name in ("id", "n", "x")] == [[1, 2, 3, 4, 5], [None, None, 7, None, 8], [None] * 4 + [1.5]]
    connection = sqlite.connect()
    types = [type for (type,) in connection.execute("select type from pragma_table_info('t')")]
    connection.close()
    assert types == ["INTEGER", "INTEGER", "REAL"]


@pytest.mark.parametrize("why", ["asked", "rows", "time"])
def test_columns_without_a_value_are_text_where_a_step_has_to_be_committed(sqlite, why):
    frame = frames_of("pyarrow")
    steps = {"seconds_per_commit": 0.2} if why == "time" else {"rows_per_commit": 2}
    with sqlite.writer(commit="batch", **steps) as rows:
        rows.write(frame({"id": [1], "n": [None]}))
        if why == "asked":
            rows.commit()
        elif why == "rows":
            rows.write(frame({"id": [2], "n": [None]}))
        for _ in range(100):
            if sqlite.exists():
                break
            time.sleep(0.05)
        assert sqlite.count() == (2 if why == "rows" else 1)
        rows.write(frame({"id": [3], "n": [7]}))
    assert sqlite.values("n")[-1] == "7"


def test_columns_without_a_value_wait_in_bounded_memory(sqlite):
    frame = frames_of("pyarrow")
    with sqlite.writer() as rows:
        for _ in range(70):
            rows.write(frame({"s": ["x" * (1 << 20)], "n": [None]}))
        rows.write(frame({"s": ["y"], "n": [7]}))
    assert sqlite.values("n") == [None] * 70 + ["7"]


def test_columns_without_a_value_are_there_at_the_end(place):
    frame = frames_of("pyarrow")
    with place.writer() as rows:
        rows.write(frame({"id": [1], "n": [None]}))
        rows.write(frame({"id": [2], "n": [None]}))
    assert place.values("n") == [None, None]


@pytest.mark.parametrize("way", ["frame", "rows", "writer", "file"])
def test_columns_that_differ_in_case_alone_are_called_as_those_of_files(place, tmp_path, way):
    """Most targets don't tell them apart."""
    if way == "file":
        source = tmp_path / "x.csv"
        source.write_text("A,a\n1,2\n")
        report = inrush.load(source, place.url, table=place.table, profiles="none", progress=False)
    elif way == "writer":
        with place.writer() as rows:
            rows.write(pa.table({"A": [1], "a": [2]}))
        report = rows.report
    else:
        report = place.write(pa.table({"A": [1], "a": [2]}) if way == "frame" else [{"A": 1, "a": 2}])
    assert report.warnings == ["column 2 is a second 'a': it is called a_2"]
    assert [[int(value) for value in place.values(name)] for name in ("A", "a_2")] == [[1], [2]]
