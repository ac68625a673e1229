"""The writer: for programs that have their rows one after the other."""

import datetime as dt
import decimal
import gc
import json
import math
import multiprocessing
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import warnings

import pytest
from conftest import Duckdb, File, Mongodb, Sqlite, run, start

import inrush


def count_soon(place, wanted, seconds=10):
    """Waits until another connection sees so many rows."""
    if isinstance(place, Duckdb):
        pytest.skip("who looks into a file of DuckDB meanwhile is in the way of the next step")

    def count():
        # Within a process the locks of two SQLite libraries do not exclude each other.
        return count_elsewhere(place) if isinstance(place, Sqlite) else place.count()

    end = time.monotonic() + seconds
    while (found := count()) != wanted:
        assert time.monotonic() < end, (found, wanted)
        time.sleep(0.02)


COUNT = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], timeout=10)
is_there = database.execute("select count(*) from sqlite_master where name = ?", [sys.argv[2]]).fetchone()[0]
print(database.execute(f'select count(*) from "{sys.argv[2]}"').fetchone()[0] if is_there else None)
"""


def count_elsewhere(place):
    """How many rows another process sees."""
    if not os.path.exists(place.url):
        return None
    command = [sys.executable, "-c", COUNT, place.url, place.table]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    return None if out == "None" else int(out)


REFUSED = """
import sys, numpy, inrush
class Frame:
    def __init__(self, *names):
        self.names = names
    def __arrow_c_stream__(self, schema=None):
        import pyarrow
        column = pyarrow.array(numpy.arange(100_000))
        return pyarrow.Table.from_arrays([column] * len(self.names), names=self.names).__arrow_c_stream__(schema)
rows = inrush.Writer(sys.argv[1], table="t", progress=False)
rows.write(Frame("a", "b"))
if sys.argv[2] == "left":
    del rows
else:
    try:
        rows.write(Frame("a", "a"))
    except inrush.Error as error:
        print(error)
print("through")
"""


@pytest.mark.parametrize("how", ["refused", "left"])
def test_a_writer_that_ends_early_does_not_wait_for_who_waits_for_the_interpreter(sqlite, how):
    """NumPy's memory is freed by the load's threads, and only with the interpreter: it hung for good."""
    for module in ("numpy", "pyarrow"):
        pytest.importorskip(module)
    done = run(REFUSED, sqlite.url, how, timeout=120)
    assert done.stdout.endswith("through\n"), done.stderr
    assert "leaving" not in done.stderr
    assert not sqlite.exists()


#: Values of a column: those before, that of a row which is refused, and those behind.
REFUSED_VALUES = {
    "a text among integers": ([1], "x", [2]),
    "a float among integers": ([1], 1.5, [2]),
    "the first one": ([None], "x", [2]),
    "the first one that fits nothing": ([None], b"x", [dt.date(2020, 1, 1)]),
    "digits of a decimal": ([decimal.Decimal("1.5")], decimal.Decimal("1e-30"), [decimal.Decimal("2.5")]),
    "a float that is no number": ([1.5], math.nan, [2.5]),
    "a moment with a zone": ([dt.datetime(2020, 1, 1)], dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc), [dt.datetime(2020, 1, 2)]),
    "half of a character": (["a"], "\ud800", ["b"]),
}


@pytest.mark.parametrize("name", REFUSED_VALUES)
@pytest.mark.parametrize("at", [0, 1])
def test_a_row_that_is_refused_changes_no_column(sqlite, name, at):
    """Of what the program goes on after, types and warnings know nothing."""
    before, refused, behind = REFUSED_VALUES[name]

    def row(value, other):
        return {"v": value, "o": other} if at == 0 else {"o": other, "v": value}

    rows, wrong = [row(value, 1) for value in before], row(refused, object())
    late = [row(value, 2) for value in behind]
    with sqlite.writer() as writer:
        writer.insert_many([*rows, *late])
    plain, types, warned = sqlite.read(), writer.report.plan.columns, writer.report.warnings
    sqlite.execute("drop table t")
    with sqlite.writer() as writer:
        writer.insert_many(rows)
        with pytest.raises(inrush.UsageError, match="no database has a type"):
            writer.insert(wrong)
        writer.insert_many(late)
    assert sqlite.read() == plain
    assert (writer.report.plan.columns, writer.report.warnings) == (types, warned)


def test_a_first_row_that_is_refused_says_nothing_of_the_columns(sqlite):
    with sqlite.writer() as rows:
        with pytest.raises(inrush.UsageError):
            rows.insert({"id": 1, "wrong": object()})
        rows.insert({"id": 1, "name": "a"})
    assert sqlite.read() == (["id", "name"], [(1, "a")])


def test_rows_behind_a_frame_have_the_numbers_of_the_load(sqlite):
    arrow = pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    frame = arrow.table({"id": [1, 2, 3], "v": ["a", "b", "c"]})
    with sqlite.writer() as rows:
        rows.write(frame)
        rows.insert({"id": 4, "v": "d"})
        with pytest.raises(inrush.UsageError, match="row 5, column v: "):
            rows.insert({"id": 5, "v": object()})
        with pytest.raises(inrush.UsageError, match="row 5 has a key 'x'"):
            rows.insert({"x": 5})
        rows.write(frame)
        with pytest.raises(inrush.UsageError, match="row 8, column v: "):
            rows.write(pandas.DataFrame({"id": [1], "v": [object()]}, dtype=object))
        rows.insert({"id": 8, "v": math.nan})
    assert sqlite.values("id") == [1, 2, 3, 4, 1, 2, 3, 8]
    assert any("(row 8)" in warning for warning in rows.report.warnings)


@pytest.mark.parametrize("first", ["rows", "frame and rows"])
@pytest.mark.parametrize("end", ["end", "batch"])
def test_columns_without_a_value_have_the_type_of_a_later_row(sqlite, first, end):
    """Behind the rows that types are told from they became columns of text."""
    steps = {"commit": "batch", "rows_per_commit": 100_000} if end == "batch" else {}
    with sqlite.writer(**steps) as rows:
        if first == "frame and rows":
            rows.write({"id": [-1], "n": [None], "x": [None], "s": [None]})
        rows.insert_many({"id": number, "n": None, "x": None, "s": None} for number in range(40_000))
        rows.insert({"id": 40_000, "n": 7, "x": None, "s": None})
        rows.insert_many({"id": number, "n": None, "x": None, "s": None} for number in range(40_001, 60_000))
        rows.insert({"id": 60_000, "n": 8, "x": 1.5, "s": "a"})
    assert [one.partition(" has ")[0] for one in rows.report.warnings] == []
    found = [[one for one in sqlite.values(name) if one is not None] for name in ("n", "x", "s")]
    assert found == [[7, 8], [1.5], ["a"]]
    assert len(sqlite.values("id")) == 60_001 + (first != "rows")


def test_rows_before_the_load_wait_in_bounded_memory(sqlite):
    """Ten thousand rows were kept, however large they were, and with a column of nothing but NULL they would all be."""
    with sqlite.writer() as rows:
        for _ in range(70):
            rows.insert({"s": "x" * (1 << 20), "n": None})
        rows.insert({"s": "y", "n": 7})
    assert sqlite.values("n") == [None] * 70 + ["7"]
    assert any("column n " in one and "(row 71)" in one for one in rows.report.warnings)


def test_report_and_order(sqlite):
    writer = sqlite.writer()
    assert writer.report is None
    with writer as rows:
        assert rows is writer
        rows.insert({"id": 1})
        rows.insert_many({"id": number} for number in range(2, 50_000))
        rows.insert({"id": 50_000})
    assert writer.report.rows_loaded == 50_000
    assert sqlite.values("id") == list(range(1, 50_001))


def test_an_exception_leaves_nothing(place):
    for if_exists in ("empty", "append"):
        before = place.count()
        with pytest.raises(ZeroDivisionError), place.writer(if_exists=if_exists) as rows:
            for number in range(20_000 if not isinstance(place, Mongodb) else 200):
                rows.insert({"id": number})
            1 / 0
        if isinstance(place, Mongodb) and before is not None:
            continue
        assert place.count() == before
        assert rows.report is None
        if before is None:
            place.write([(1,)], columns=["id"])


def test_an_iterator_that_raises(place):
    def numbers():
        yield from ({"id": number} for number in range(100))
        raise LookupError("no more")

    for write in (place.write, lambda rows: insert_many(place, rows)):
        with pytest.raises(LookupError, match="no more") as caught:
            write(numbers())
        assert not isinstance(caught.value, inrush.Error)
        assert not place.exists()


def insert_many(place, given, **options):
    with place.writer(**options) as rows:
        rows.insert_many(given)


@pytest.mark.parametrize("exception", [SystemExit, GeneratorExit, KeyboardInterrupt])
def test_an_iterator_that_raises_what_is_no_exception(sqlite, exception):
    def numbers():
        yield from ((number,) for number in range(100))
        raise exception

    with pytest.raises(exception):
        sqlite.write(numbers(), columns=["id"])
    assert not sqlite.exists()


def test_finish_and_abort_may_be_called_twice(sqlite):
    rows = sqlite.writer()
    rows.insert({"id": 1})
    report = rows.finish()
    assert rows.finish() is report is rows.report
    rows.abort()
    assert sqlite.count() == 1
    rows = sqlite.writer(if_exists="append")
    rows.insert({"id": 2})
    rows.abort()
    rows.abort()
    assert rows.report is None
    for call in (lambda: rows.insert({"id": 1}), lambda: rows.insert_many([]), rows.finish):
        with pytest.raises(inrush.UsageError, match="over"):
            call()
    assert sqlite.count() == 1


def test_finish_inside_of_the_block(sqlite):
    with sqlite.writer() as rows:
        rows.insert({"id": 1})
        rows.finish()
    assert sqlite.count() == 1
    with sqlite.writer(if_exists="append") as rows:
        rows.insert({"id": 1})
        rows.abort()
    assert (sqlite.count(), rows.report) == (1, None)


def test_no_rows(sqlite):
    with pytest.raises(inrush.UsageError, match=r"columns=\[...\]"), sqlite.writer():
        pass
    with sqlite.writer(columns={"id": "integer"}):
        pass
    assert sqlite.count() == 0
    with sqlite.writer(if_exists="append") as rows:
        pass
    assert (rows.report.rows_loaded, rows.report.plan.table) == (0, "t")


def test_a_row_that_is_refused_is_not_added(sqlite):
    with sqlite.writer(columns=["a", "b"]) as rows:
        rows.insert((1, 2))
        for wrong in ((1,), (1, 2, 3), {"a": 1}, (object(), 1), (1, object()), 5):
            with pytest.raises(inrush.UsageError, match="row 2"):
                rows.insert(wrong)
        rows.insert([3, 4])
    assert sqlite.read()[1] == [(1, 2), (3, 4)]


def test_a_column_that_a_later_frame_lacks_is_a_mistake(sqlite):
    """As one that a later file lacks is: it was NULL without a word."""
    pandas = pytest.importorskip("pandas")
    frames = pandas.DataFrame({"a": [1], "price": [2.5]}), pandas.DataFrame({"a": [3]}), {"a": [4]}
    for said in ({}, {"missing_columns": "fail"}, {"columns": ["a", "price"]}):
        with sqlite.writer(if_exists="replace", **said) as rows:
            rows.write(frames[0])
            for lacking in frames[1:]:
                with pytest.raises(inrush.UsageError, match='the frame lacks the column \'price\', and .*: a, price; missing_columns="null"'):
                    rows.write(lacking)
        assert sqlite.read() == (["a", "price"], [(1, 2.5)])
    with sqlite.writer(if_exists="replace", missing_columns="null") as rows:
        for frame in frames:
            rows.write(frame)
    assert sqlite.read() == (["a", "price"], [(1, 2.5), (3, None), (4, None)])


def test_a_key_that_a_later_row_lacks_is_null_unless_it_is_said_to_be_a_mistake(sqlite):
    with sqlite.writer() as rows:
        rows.insert_many([{"a": 1, "b": 2}, {"a": 3}])
    assert sqlite.read()[1] == [(1, 2), (3, None)]
    with sqlite.writer(if_exists="replace", missing_columns="fail") as rows:
        rows.insert({"a": 1, "b": 2})
        with pytest.raises(inrush.UsageError, match="row 2 lacks the key 'b'"):
            rows.insert({"a": 3})
    assert sqlite.read()[1] == [(1, 2)]
    for given in ([{"a": 1, "b": 2}, {"a": 3}], [{"a": 3}, {"a": 1, "b": 2}]):
        for form in (list, iter):
            with pytest.raises(inrush.UsageError, match="row [12] lacks the key 'b'|row 2 has a key 'b'"):
                sqlite.write(form(given), if_exists="replace", missing_columns="fail")


def test_what_is_no_column_of_the_first_rows_says_how_to_name_it(sqlite):
    """A column of the table it may well be."""
    pandas = pytest.importorskip("pandas")
    sqlite.execute("create table t (a integer, b text)")
    more = r'columns=\["a", "b"\] names more'
    with sqlite.writer(if_exists="append") as rows:
        rows.insert({"a": 1})
        with pytest.raises(inrush.UsageError, match="row 2 has a key 'b', and the columns are those of the rows before: a; " + more):
            rows.insert({"a": 2, "b": "x"})
        with pytest.raises(inrush.UsageError, match="the frame has a column 'b', and the columns are those of the rows before: a; " + more):
            rows.write(pandas.DataFrame({"a": [2], "b": ["x"]}))
    with sqlite.writer(if_exists="append") as rows:
        rows.write(pandas.DataFrame({"a": [2]}))
        with pytest.raises(inrush.UsageError, match="the frame has a column 'b', and the columns are those of the frame before: a; " + more):
            rows.write(pandas.DataFrame({"a": [2], "b": ["x"]}))
        with pytest.raises(inrush.UsageError, match="row 2 has a key 'b', and the columns are those of the frame before: a; " + more):
            rows.insert({"a": 2, "b": "x"})
    with sqlite.writer(if_exists="append", columns=["a", "b"], missing_columns="null") as rows:
        rows.write(pandas.DataFrame({"a": [3]}))
        rows.write(pandas.DataFrame({"b": ["x"], "a": [4]}))
        with pytest.raises(inrush.UsageError, match="'c', and the columns are those that columns= names: a, b"):
            rows.insert({"c": 1})
    assert sqlite.read()[1] == [(1, None), (2, None), (3, None), (4, "x")]


def test_names_of_later_frames_are_compared_as_those_of_the_first(sqlite):
    sqlite.execute("create table t (a integer, b text)")
    frames = {"A": [1], "b": ["x"]}, {"B": ["y"], "a": [2]}, {"a": [3], "b": ["z"]}
    for said in ({}, {"case": "ignore"}, {"columns": ["a", "B"]}):
        sqlite.execute("delete from t")
        with sqlite.writer(if_exists="append", **said) as rows:
            for frame in frames:
                rows.write(frame)
            with pytest.raises(inrush.UsageError, match="has a column"):
                rows.write({"a": [4], "A": [5], "b": ["x"]})
        assert sqlite.read()[1] == [(1, "x"), (2, "y"), (3, "z")]
    with sqlite.writer(case="exact", if_exists="replace") as rows:
        rows.write(frames[2])
        with pytest.raises(inrush.UsageError, match="has a column 'B'"):
            rows.write(frames[1])


def test_commit_is_for_steps(sqlite):
    with pytest.raises(inrush.UsageError, match='commit="batch"'), sqlite.writer() as rows:
        rows.insert({"id": 1})
        rows.commit()
    for wrong in ({"commit": "never"}, {"rows_per_commit": 5}, {"seconds_per_commit": 1}, {"commit": "batch", "rows_per_commit": 0}):
        with pytest.raises(inrush.UsageError), sqlite.writer(**wrong) as rows:
            rows.insert({"id": 1})
    assert not sqlite.exists()


def test_steps_are_counted_by_numbers_of_numpy(sqlite):
    numpy = pytest.importorskip("numpy")
    steps = {"rows_per_commit": numpy.int64(2), "seconds_per_commit": numpy.float32(60)}
    with sqlite.writer(columns=["id"], commit="batch", **steps) as rows:
        for number in (1, 2, 3):
            rows.insert((number,))
    assert sqlite.read()[1] == [(1,), (2,), (3,)]
    for wrong in ({"rows_per_commit": True}, {"seconds_per_commit": numpy.float64("nan")}, {"seconds_per_commit": 0}):
        with pytest.raises(inrush.UsageError, match="is no number from|is not a number of seconds"):
            sqlite.writer(columns=["id"], commit="batch", **wrong)


def test_bad_rows_of_steps_are_in_one_file_and_count_together(sqlite, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text("of an earlier load\n")
    steps = {"columns": {"id": "integer"}, "commit": "batch", "rows_per_commit": 10, "rejects": path, "if_exists": "append"}
    sqlite.write([(0,)], columns=["id"])
    with sqlite.writer(max_rejects=3, **steps) as rows:
        rows.insert_many(("bad" if number in (3, 25, 26) else number,) for number in range(50))
    report = rows.report
    assert (report.rows_loaded, report.rows_rejected, report.rejects) == (47, 3, [str(path)])
    assert [one for one in report.warnings if "is now" in one] == [f"an earlier {path} is now {path}.1", f"an earlier {path}.jsonl is now {path}.jsonl.1"][:1]
    assert path.read_text() == '{"id":"bad"}\n' * 3
    with pytest.raises(inrush.RejectedRows, match=r"bad row 4; max_rejects=3 allows") as caught, sqlite.writer(max_rejects=3, **steps) as rows:
        rows.insert_many(("bad" if number % 10 == 3 else number,) for number in range(50))
    assert (caught.value.aftermath, caught.value.record) == ("committed", 34)
    assert path.read_text() == '{"id":"bad"}\n' * 3
    # A share is one of all rows so far.
    with sqlite.writer(max_rejects="10%", **{**steps, "rejects": []}) as rows:
        rows.insert_many(("bad" if number in (11, 12) else number,) for number in range(20))
    assert rows.report.rows_rejected == 2


def test_steps_of_rows(place):
    """Exactly so many, and never more or fewer; the last one at a clean end."""
    with place.writer(columns=["id"], commit="batch", rows_per_commit=100) as rows:
        rows.insert_many((number,) for number in range(250))
        rows.commit()
        assert place.count() == 250
        rows.insert_many((number,) for number in range(250, 349))
        assert place.count() in (250, 300, 349)
        rows.insert((349,))
    assert (rows.report.rows_loaded, rows.report.steps["committed"]) == (350, 4)
    assert place.count() == 350


def test_steps_are_whole_after_an_exception(place):
    with pytest.raises(ZeroDivisionError), place.writer(columns=["id"], commit="batch", rows_per_commit=100) as rows:
        rows.insert_many((number,) for number in range(250))
        count_or_more = place.count() or 0
        assert count_or_more % 100 == 0
        1 / 0
    assert place.count() == 200


def test_small_steps_wait_for_no_batch(place):
    """However few rows a step has: each one is there before the next begins, also when the block is left by an exception."""
    with pytest.raises(ZeroDivisionError), place.writer(commit="batch", rows_per_commit=10) as rows:
        for number in range(25):
            rows.insert({"id": number})
        count_soon(place, 20)
        1 / 0
    assert place.count() == 20
    with place.writer(commit="batch", rows_per_commit=10, if_exists="append") as rows:
        rows.insert({"id": 25})
        rows.commit()
        for number in range(26, 41):
            rows.insert({"id": number})
        count_soon(place, 31)
    assert place.count() == 36


def test_steps_of_frames_and_rows(sqlite):
    polars = pytest.importorskip("polars")
    with sqlite.writer(commit="batch", rows_per_commit=10, seconds_per_commit=3600) as rows:
        rows.write(polars.DataFrame({"id": range(25)}))
        for number in range(25, 30):
            rows.insert({"id": number})
        count_soon(sqlite, 30)
    assert sqlite.count() == 30


def test_steps_are_seen_by_others(sqlite):
    """By another process: exactly `rows_per_commit` at each look, until the end."""
    code = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for _ in sys.stdin:
    print(connection.execute("select count(*) from t").fetchone()[0], flush=True)
"""
    with sqlite.writer(columns=["id"], commit="batch", rows_per_commit=1_000) as rows:
        rows.insert_many((number,) for number in range(20_500))
        rows.commit()
        with start(code, sqlite.url, stdin=subprocess.PIPE) as other:
            seen = []
            for number in range(20_500, 61_500):
                rows.insert((number,))
                if number % 2_000 == 0:
                    print(file=other.stdin, flush=True)
                    seen.append(int(other.stdout.readline()))
            other.stdin.close()
    assert all((count - 20_500) % 1_000 == 0 for count in seen) and len(set(seen)) > 1
    assert sqlite.count() == 61_500


def test_steps_of_seconds(place):
    """Rows can be seen although nobody writes any more."""
    with place.writer(columns=["id"], commit="batch", seconds_per_commit=0.05) as rows:
        rows.insert((1,))
        count_soon(place, 1)
        rows.insert((2,))
        rows.insert((3,))
        count_soon(place, 3)
    assert rows.report.rows_loaded == 3


def test_steps_of_seconds_count_from_the_first_row(sqlite):
    """Also of rows that came in a frame, and none waits twice."""
    polars = pytest.importorskip("polars")
    with sqlite.writer(commit="batch", rows_per_commit=1_000, seconds_per_commit=0.5) as rows:
        rows.write(polars.DataFrame({"id": [1, 2]}))
        rows.insert((3,))
        count_soon(sqlite, 3)
        rows.insert((4,))
        count_soon(sqlite, 4)
    assert rows.report.rows_loaded == 4


def test_steps_of_seconds_go_on_while_the_program_makes_its_rows(place):
    """Of a generator, and of a reader of batches: what is there is committed however long the next row takes."""
    pyarrow = pytest.importorskip("pyarrow")
    schema = pyarrow.schema([("id", pyarrow.int64())])

    def rows_of(numbers):
        for number in numbers:
            yield {"id": number}
            count_soon(place, number)

    def batches_of(numbers):
        for number in numbers:
            yield pyarrow.record_batch({"id": [number]}, schema=schema)
            count_soon(place, number)

    with place.writer(commit="batch", seconds_per_commit=0.05) as rows:
        rows.insert_many(rows_of((1, 2)))
        rows.write(pyarrow.RecordBatchReader.from_batches(schema, batches_of((3, 4))))
    assert rows.report.rows_loaded == 4


@pytest.mark.parametrize(
    "wrong",
    [
        *({"rows_per_commit": wrong} for wrong in (0, -1, 1.5, "5", True)),
        *({"seconds_per_commit": wrong} for wrong in (0, -1, float("nan"), float("inf"), "2", True)),
    ],
)
def test_steps_that_are_none(sqlite, wrong):
    with pytest.raises(inrush.UsageError, match=next(iter(wrong))):
        sqlite.writer(commit="batch", **wrong)


def test_commit_by_hand(place):
    with place.writer(commit="batch") as rows:
        for number in range(3):
            rows.insert({"id": number})
            rows.commit()
            assert place.count() == number + 1
        rows.commit()
    assert place.count() == 3
    assert rows.report.rows_read == 3


def test_steps_of_several_kinds_of_values(sqlite):
    """The columns' types are those of all the rows that were there when the load began, not of the first batch."""
    with sqlite.writer(commit="batch", rows_per_commit=1_000) as rows:
        for value in (None, 1, "a", 2.5):
            rows.insert({"v": value})
    assert sqlite.values("v") == [None, "1", "a", "2.5"]


def test_bad_rows_of_steps(sqlite):
    """Told by their place in all that was written, as soon as their step is committed."""
    bad = []
    options = {"columns": {"id": "integer"}, "commit": "batch", "rows_per_commit": 10, "max_rejects": "all", "rejects": bad}
    with sqlite.writer(**options) as rows:
        for number in range(35):
            rows.insert(("x" if number in (4, 25) else number,))
        rows.commit()
        assert [row.position for row in bad] == [5, 26]
    assert [row.row for row in bad] == [("x",), ("x",)]
    assert (rows.report.rows_loaded, rows.report.rows_rejected) == (33, 2)


def test_a_step_that_fails_leaves_those_before(sqlite):
    with pytest.raises(inrush.RejectedRows) as caught:
        with sqlite.writer(columns={"id": "integer"}, commit="batch", rows_per_commit=10) as rows:
            for number in range(35):
                rows.insert(("x" if number == 25 else number,))
    assert (caught.value.aftermath, caught.value.rows_committed) == ("committed", 20)
    assert [row.position for row in caught.value.rows] == [26]
    assert caught.value.record == 26 and "row 26" in str(caught.value)
    assert sqlite.count() == 20


def test_a_row_that_is_none_says_what_steps_have_committed(sqlite):
    """Also what was said before the writer has read of it, and a Ctrl-C between two steps."""
    steps = {"columns": ["id", "name"], "commit": "batch", "rows_per_commit": 10, "if_exists": "replace"}
    ragged = [(number, "a") for number in range(35)] + [(35,)]
    with pytest.raises(inrush.UsageError) as caught, sqlite.writer(**steps) as rows:
        rows.insert_many(ragged)
    assert (caught.value.aftermath, caught.value.rows_committed) == ("committed", 30)
    assert sqlite.count() == 30
    with pytest.raises(inrush.UsageError) as caught, sqlite.writer(**steps) as rows:
        rows.insert_many(ragged[:20])
        rows.commit()
        rows.write(object())
    assert (caught.value.aftermath, caught.value.rows_committed) == ("committed", 20)
    rows = sqlite.writer(**steps)
    rows.insert_many(ragged[:20])
    rows.commit()
    with pytest.raises(inrush.UsageError) as caught:
        rows.insert((1,))
    assert (caught.value.aftermath, caught.value.rows_committed) == ("committed", 20)
    rows.abort()
    with pytest.raises(inrush.UsageError) as caught, sqlite.writer(**{**steps, "commit": "end", "rows_per_commit": None}) as rows:
        rows.insert_many(ragged)
    assert (caught.value.aftermath, caught.value.rows_committed) == ("nothing-changed", None)


def test_what_fills_a_table_at_once_is_no_way_for_steps(sqlite):
    with pytest.raises(inrush.UsageError, match="sqlite/pages fills a table at once") as caught:
        with sqlite.writer(commit="batch", rows_per_commit=2, strategy="sqlite/pages") as rows:
            rows.insert_many({"id": number} for number in range(6))
    assert caught.value.aftermath == "nothing-changed"
    assert not sqlite.exists()


def test_commit_behind_a_step_that_fails(sqlite):
    code = """
import sys, inrush
rows = inrush.Writer(sys.argv[1], table="t", columns={"id": "integer"}, commit="batch", rows_per_commit=10, progress=False)
rows.insert_many(("x" if number == 25 else number,) for number in range(35))
try:
    rows.commit()
except inrush.RejectedRows as error:
    print(error.rows_committed)
"""
    assert run(code, sqlite.url, timeout=2).stdout == "20\n"


def test_another_thread_is_told_at_once(sqlite):
    inside, go_on = threading.Event(), threading.Event()

    def slow():
        yield {"id": 1}
        inside.set()
        assert go_on.wait(20)
        yield {"id": 2}

    with sqlite.writer() as rows:
        errors = []

        def other():
            inside.wait(20)
            for call in (lambda: rows.insert({"id": 3}), rows.finish, rows.abort, lambda: rows.insert_many([])):
                began = time.monotonic()
                try:
                    call()
                except inrush.UsageError as error:
                    errors.append((str(error), time.monotonic() - began))
            go_on.set()

        thread = threading.Thread(target=other)
        thread.start()
        rows.insert_many(slow())
        thread.join()
        # One after the other they may.
        thread = threading.Thread(target=rows.insert, args=({"id": 4},))
        thread.start()
        thread.join()
    assert len(errors) == 4 and all("thread" in text and seconds < 1 for text, seconds in errors)
    assert sqlite.values("id") == [1, 2, 4]


def test_rows_that_ask_their_own_writer(sqlite):
    """An iterator may look at the writer that it feeds, and not write with it."""
    with sqlite.writer() as rows:

        def own():
            assert rows.is_over is False
            assert rows.report is None
            with pytest.raises(inrush.UsageError, match="in the middle of a call"):
                rows.insert({"id": 2})
            yield {"id": 1}

        rows.insert_many(own())
    assert sqlite.count() == 1 and rows.is_over


def test_threads_may_each_have_one(tmp_path):
    def work(number):
        with inrush.Writer(tmp_path / f"{number}.db", table="t", progress=False) as rows:
            for id in range(5_000):
                rows.insert({"id": id})

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        connection = sqlite3.connect(tmp_path / f"{number}.db")
        assert connection.execute("select count(*) from t").fetchone() == (5_000,)
        connection.close()


def test_copies_are_refused(sqlite):
    import copy

    rows = sqlite.writer()
    for make in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="Writer"):
            make(rows)
    rows.abort()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where there is fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_has_no_part_in_it(place):
    """Neither by writing, nor by dropping it, nor by ending."""
    # What the other tests have left would be copied for the child, which looks through it.
    gc.freeze()
    rows = place.writer(columns=["id"])
    rows.insert_many((number,) for number in range(300))
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        answer = b"wrong"
        try:
            for call in (lambda: rows.insert((1,)), rows.finish, lambda: rows.insert_many([])):
                try:
                    call()
                    break
                except inrush.UsageError as error:
                    assert "fork" in str(error)
            else:
                rows.abort()
                del rows, call
                gc.collect()
                answer = b"right"
        finally:
            os.write(tell, answer)
            os._exit(0)
    os.close(tell)
    assert os.read(told, 10) == b"right"
    os.close(told)
    os.waitpid(child, 0)
    gc.unfreeze()
    rows.insert((300,))
    assert rows.finish().rows_loaded == 301
    assert place.count() == 301


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where there is fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_may_have_its_own(tmp_path, sqlite):
    rows = sqlite.writer()
    rows.insert({"id": 1})
    child = multiprocessing.get_context("fork").Process(target=own, args=(str(tmp_path / "child.db"),))
    child.start()
    child.join(30)
    assert child.exitcode == 0
    rows.finish()
    connection = sqlite3.connect(tmp_path / "child.db")
    assert connection.execute("select count(*) from t").fetchone() == (1,)
    connection.close()


def own(path):
    with inrush.Writer(path, table="t", progress=False) as rows:
        rows.insert({"id": 1})


def test_a_writer_that_is_forgotten_is_aborted_with_a_warning(sqlite):
    rows = sqlite.writer()
    rows.insert_many({"id": number} for number in range(30_000))
    with pytest.warns(ResourceWarning, match="finish"):
        del rows
        gc.collect()
    assert not sqlite.exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for end in ("finish", "abort"):
            rows = sqlite.writer(if_exists="replace")
            rows.insert({"id": 1})
            getattr(rows, end)()
            del rows
            gc.collect()


def test_a_writer_that_has_not_begun_warns_of_nothing(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = inrush.Writer("postgres://me@127.0.0.1:1/x", table="t", progress=False)
        with pytest.raises(inrush.TargetError):
            rows.insert_many({"id": number} for number in range(20_000))
        with pytest.raises(inrush.UsageError, match="over"):
            rows.insert({"id": 1})
        del rows
        gc.collect()


def test_a_writer_that_is_open_at_exit(sqlite):
    code = """
import sys, inrush
rows = inrush.Writer(sys.argv[1], table="t", progress=False)
rows.insert_many({"id": number} for number in range(30_000))
"""
    done = run(code, sqlite.url)
    assert done.returncode == 0
    assert "ResourceWarning" in done.stderr and "finish" in done.stderr
    assert not sqlite.exists()


def test_an_interpreter_within_the_process_does_not_keep_it_from_its_end():
    pytest.importorskip("_xxsubinterpreters")
    code = """
import sys, _xxsubinterpreters as interpreters
interpreters.run_string(interpreters.create(), f"import sys; sys.path[:] = {sys.path}; import inrush")
print("through")
"""
    done = run(code, timeout=60)
    assert (done.returncode, done.stdout) == (0, "through\n"), done.stderr


def test_memory_is_bounded(sqlite):
    """By the plan, and not by the rows: 220 MB of them."""
    code = """
import resource, sys, inrush
text = "x" * 1_000
with inrush.Writer(sys.argv[1], table="t", progress=False, columns=["id", "text"]) as rows:
    for number in range(20_000):
        rows.insert((number, text))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(200_000):
        rows.insert((number, text))
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(after - before, rows.report.plan.memory_ceiling_bytes)
"""
    done = run(code, sqlite.url)
    grown, ceiling = map(int, done.stdout.split())
    assert grown * 1024 < ceiling < 200e6


@pytest.mark.parametrize("commit", ["end", "batch"])
def test_rows_are_those_that_were_there_when_they_were_written(sqlite, commit):
    """A program fills the same memory again, of which batches are no copies."""
    numpy, pandas, polars, arrow = map(pytest.importorskip, ("numpy", "pandas", "polars", "pyarrow"))
    values = numpy.zeros(3, "int64")
    frame = pandas.DataFrame({"v": values}, copy=False)

    kinds = {
        "pandas": lambda: frame,
        "polars": lambda: polars.DataFrame({"v": values}),
        "pyarrow": lambda: arrow.table({"v": arrow.array(values)}),
        "a stream": lambda: arrow.table({"v": arrow.array(values)}).to_reader(),
        "a struct": lambda: arrow.record_batch({"v": arrow.array(values)}).to_struct_array(),
    }
    for kind, make in kinds.items():
        with sqlite.writer(commit=commit, if_exists="replace") as rows:
            for number in range(40):
                values[:] = number
                rows.write(make())
            values[:] = -1
        assert sqlite.values("v") == [number for number in range(40) for _ in range(3)], kind


#: Of Arrow's types each that keeps its values in another way, with values that use most of what it has.
KEPT = {
    "numbers": lambda arrow: arrow.array([1, None, 3, 4, 5]),
    "flags": lambda arrow: arrow.array([True, None, False, True, True]),
    "texts": lambda arrow: arrow.array(["a", None, "", "d" * 30, "é"]),
    "large texts": lambda arrow: arrow.array(["a", None, "", "d" * 30, "é"], arrow.large_string()),
    "views": lambda arrow: arrow.array(["a", None, "", "d" * 30, "e" * 13], arrow.string_view()),
    "views of bytes": lambda arrow: arrow.array([b"a", None, b"", b"d" * 30, b"e" * 13], arrow.binary_view()),
    "bytes of one length": lambda arrow: arrow.array([b"ab", None, b"cd", b"ef", b"gh"], arrow.binary(2)),
    "words": lambda arrow: arrow.array(["a", None, "c" * 20, "a", "e"]).dictionary_encode(),
    "words in views": lambda arrow: arrow.DictionaryArray.from_arrays(
        arrow.array([0, None, 2, 0, 1], arrow.int8()), arrow.array(["a", "b" * 20, "c" * 20], arrow.string_view())
    ),
    "lists": lambda arrow: arrow.array([[1, 2], None, [], [None], [5, 6, 7]]),
    "lists of words": lambda arrow: arrow.ListArray.from_arrays([0, 2, 2, 3, 3, 4], arrow.array(["a", "b", "a", "d"]).dictionary_encode()),
    "lists of one length": lambda arrow: arrow.array([[1, 2], None, [3, 4], [None, 6], [7, 8]], arrow.list_(arrow.int64(), 2)),
    "structs": lambda arrow: arrow.array([{"x": 1, "y": "a"}, None, {"x": None, "y": "c" * 20}, {"x": 4, "y": None}, {"x": 5, "y": "e"}]),
    "structs of views": lambda arrow: arrow.array(
        [{"y": "a"}, None, {"y": "c" * 20}, {"y": None}, {"y": "e"}], arrow.struct([("y", arrow.string_view())])
    ),
    "maps": lambda arrow: arrow.array([[("k", 1)], None, [], [("l", None)], [("m", 5)]], arrow.map_(arrow.string(), arrow.int64())),
    "runs": lambda arrow: arrow.RunEndEncodedArray.from_arrays([1, 3, 5], arrow.array(["a", None, "c" * 20])),
    "nulls": lambda arrow: arrow.nulls(5),
}


@pytest.mark.parametrize("name", KEPT)
def test_values_of_any_kind_are_kept_as_they_are(sqlite, name):
    """As they are loaded without a copy, also where a slice shares them with others."""
    arrow = pytest.importorskip("pyarrow")
    values = KEPT[name](arrow)
    whole = arrow.concat_arrays([values, values]) if name == "numbers" else values
    for start, length in ((0, 5), (1, 3), (2, 0), (4, 1)):
        table = arrow.table({"n": list(range(length)), "v": whole.slice(start, length)})
        sqlite.write(table, if_exists="replace")
        plain = sqlite.read()
        with sqlite.writer(if_exists="replace") as rows:
            rows.write(table)
        assert sqlite.read() == plain, (start, length)


def test_a_frame_is_not_in_memory_twice(sqlite):
    """Of one that is large so much is copied as the load takes."""
    pytest.importorskip("pyarrow")
    code = """
import resource, sys, inrush, pyarrow
memory = pyarrow.py_buffer(bytes(250_000_000))
table = pyarrow.table({
    "v": pyarrow.FixedSizeBinaryArray.from_buffers(pyarrow.binary(100_000), 2_500, [None, memory]),
    "w": pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 2_500, "int8"), pyarrow.array(["a", "b" * 1_000_000])),
})
with inrush.Writer("parquet:" + sys.argv[1], progress=False) as rows:
    rows.write(table.slice(0, 10))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows.write(table)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(grown * 1024, rows.report.rows_loaded)
"""
    done = run(code, sqlite.folder / "own.parquet", timeout=120)
    assert done.returncode == 0, done.stderr
    grown, loaded = map(int, done.stdout.split())
    assert loaded == 2_510
    assert grown < 200e6


def test_other_threads_go_on_while_the_database_is_waited_for(sqlite):
    """The interpreter's lock is free."""
    sqlite.execute("create table t (id integer)")
    code = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("begin immediate")
print("locked", flush=True)
sys.stdin.read()
"""
    with start(code, sqlite.url, stdin=subprocess.PIPE) as other:
        assert other.stdout.readline() == "locked\n"
        ticks, stop = [], threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.005)

        thread = threading.Thread(target=tick)
        thread.start()
        for call in (
            lambda: sqlite.write([(1,)], if_exists="append", settings={"busy_timeout": 300}),
            lambda: insert_many(sqlite, [{"id": 1}], if_exists="append", settings={"busy_timeout": 300}),
        ):
            before = len(ticks)
            with pytest.raises(inrush.TargetError, match="lock|busy|using"):
                call()
            assert len(ticks) - before > 20
        stop.set()
        thread.join()
        other.stdin.close()
    assert sqlite.count() == 0


SERVE = """
import sys, time, inrush
with inrush.Writer(sys.argv[1], table="t", commit="batch", rows_per_commit=10, progress=False) as rows:
    for number in range(25):
        rows.insert({"id": number})
    rows.commit()
    for number in range(25, 30):
        rows.insert({"id": number})
    print("ready", flush=True)
    while True:
        time.sleep(0.05)
"""


def test_sigterm_is_a_clean_end(sqlite):
    """The last, partial step lands."""
    program = start(SERVE, sqlite.url)
    assert program.stdout.readline() == "ready\n"
    program.terminate()
    _, errors = program.communicate(timeout=30)
    assert program.returncode == 143, errors
    assert errors == ""
    assert sqlite.count() == 30


LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("begin immediate")
print("locked", flush=True)
sys.stdin.read()
connection.execute("rollback")
"""

WAIT = """
import itertools, json, sys, inrush
with inrush.Writer(sys.argv[1], table="t", commit="batch", progress=False, settings={"busy_timeout": 60_000}, **json.loads(sys.argv[2])) as rows:
    try:
        for number in itertools.count():
            rows.insert({"id": number})
            print(number, flush=True)
            if sys.argv[3] == "commit":
                rows.commit()
    finally:
        print("last", number, flush=True)
"""


@pytest.mark.parametrize("how", ["rows", "seconds", "commit"])
def test_a_signal_while_the_database_is_waited_for(sqlite, how):
    """SIGTERM is a clean end also there, with every row that was given; Ctrl-C does not wait any longer."""
    steps = {"seconds_per_commit": 0.05} if how == "seconds" else {"rows_per_commit": 10}
    for which in (signal.SIGTERM, signal.SIGINT):
        sqlite.execute("create table if not exists t (id integer)")
        sqlite.execute("delete from t")
        with start(LOCK, sqlite.url, stdin=subprocess.PIPE) as other:
            assert other.stdout.readline() == "locked\n"
            program = start(WAIT, sqlite.url, json.dumps({"if_exists": "append", **steps}), how)
            seen = []
            reader = threading.Thread(target=lambda: seen.extend(program.stdout))
            reader.start()
            # It inserts until it waits.
            before = None
            while program.poll() is None and (before != len(seen) or before == 0):
                before = len(seen)
                time.sleep(0.5)
            program.send_signal(which)
            if which == signal.SIGINT:
                assert program.wait(timeout=30) != 0
            else:
                with pytest.raises(subprocess.TimeoutExpired):
                    program.wait(timeout=0.5)
            other.stdin.close()
        code = program.wait(timeout=60)
        reader.join()
        errors = program.stderr.read()
        last = int(seen[-1].removeprefix("last "))
        if which == signal.SIGINT:
            assert "KeyboardInterrupt" in errors or "Interrupted" in errors
            assert sqlite.count() == 0
        else:
            assert (code, errors) == (143, "")
            # The row at which it came may have been on its way to insert().
            assert sqlite.values("id") in (list(range(last)), list(range(last + 1)))
        program.stdout.close()
        program.stderr.close()


def test_giving_up_while_the_database_is_waited_for_can_be_stopped(sqlite):
    sqlite.execute("create table t (id integer)")
    code = """
import sys, time, inrush
rows = inrush.Writer(sys.argv[1], table="t", commit="batch", rows_per_commit=10, if_exists="append", progress=False, settings={"busy_timeout": 60_000})
rows.insert_many({"id": number} for number in range(10))
try:
    print("ready", flush=True)
    rows.abort()
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    with start(LOCK, sqlite.url, stdin=subprocess.PIPE) as other:
        assert other.stdout.readline() == "locked\n"
        program = start(code, sqlite.url)
        assert program.stdout.readline() == "ready\n"
        time.sleep(0.3)
        program.send_signal(signal.SIGINT)
        said, errors = program.communicate(timeout=30)
        assert (said, errors) == ("stopped\n", "")
        other.stdin.close()
    assert sqlite.count() == 0


def test_kill_leaves_whole_steps(sqlite):
    program = start(SERVE, sqlite.url)
    assert program.stdout.readline() == "ready\n"
    program.kill()
    program.communicate(timeout=30)
    assert sqlite.count() == 25


def test_kill_leaves_nothing(place):
    """Of a load that was not to commit on its way."""
    if isinstance(place, Mongodb):
        pytest.skip("a collection's rows come as they are written")
    place.write([(1,)], columns=["id"])
    code = """
import sys, time, inrush
rows = inrush.Writer(sys.argv[1], table=sys.argv[2], if_exists="append", progress=False, chunk_size="64k")
rows.insert_many({"id": number} for number in range(60_000))
print("ready", flush=True)
time.sleep(60)
"""
    program = start(code, place.url, place.table)
    assert program.stdout.readline() == "ready\n"
    program.kill()
    program.communicate(timeout=30)
    # A hidden file is swept by the next load.
    place.write([(2,)], if_exists="append", columns=["id"])
    assert sorted(map(int, place.values("id"))) == [1, 2]
