"""What holds for every target: rows arrive, or nothing does."""

import datetime as dt

import pytest
from conftest import Csv, Duckdb, Mongodb, Postgres, Sqlite, assert_same

import inrush

COLUMNS = ["id", "name", "at", "price"]
ROWS = [(number, f"name {number}", dt.datetime(2020, 1, 1) + dt.timedelta(seconds=number), number / 4) for number in range(1, 301)]


def assert_rows(place, rows):
    names, found = place.read()
    for at, name in enumerate(COLUMNS):
        assert_same([row[names.index(name)] for row in found], [row[at] for row in rows])


def test_rows_of_python(place):
    report = place.write(ROWS, columns=COLUMNS)
    assert (report.rows_read, report.rows_loaded, report.rows_rejected) == (300, 300, 0)
    assert report.verify["ok"]
    assert_rows(place, ROWS)


def test_writer(place):
    with place.writer() as rows:
        for row in ROWS:
            rows.insert(dict(zip(COLUMNS, row)))
    assert rows.report.rows_loaded == 300
    assert_rows(place, ROWS)


def test_frame(place):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(ROWS, schema=COLUMNS, orient="row")
    report = place.write(frame)
    assert report.rows_loaded == 300
    assert_rows(place, ROWS)


def test_file(place, tmp_path):
    source = tmp_path / "source.csv"
    lines = ["id,name,at,price", *(",".join(map(str, row)) for row in ROWS)]
    source.write_text("\n".join(lines) + "\n")
    report = inrush.load(source, place.url, table=place.table, progress=False, lanes=None if place.table == "t" else 1)
    assert report.rows_loaded == 300
    assert_rows(place, ROWS)
    # The same by `write`, which takes a file as well.
    assert inrush.write(source, place.url, table=place.table, if_exists="append", progress=False).rows_loaded == 300
    assert place.count() == 600


def test_tuples_go_into_an_existing_table_by_position(place):
    if isinstance(place, Mongodb):
        pytest.skip("a collection has no columns")
    place.write(ROWS[:10], columns=COLUMNS)
    place.write(ROWS[10:20], if_exists="append")
    with place.writer(if_exists="append") as rows:
        rows.insert_many(ROWS[20:30])
    place.write(iter(ROWS[30:40]), if_exists="append")
    assert_rows(place, ROWS[:40])


def test_dicts_go_into_an_existing_table_by_name(place):
    place.write(ROWS[:1], columns=COLUMNS)
    place.write([{"price": 0.5, "at": dt.datetime(2021, 1, 1), "id": 2}], if_exists="append")
    if isinstance(place, Mongodb):
        return
    assert_rows(place, [ROWS[0], (2, None, dt.datetime(2021, 1, 1), 0.5)])


def test_missing_keys_are_the_columns_default(database):
    database.execute(f"create table {database.table} (id integer, kind varchar(10) default 'plain', n integer)")
    database.write([{"id": 1}, {"id": 2}], if_exists="append")
    assert database.read()[1] == [(1, "plain", None), (2, "plain", None)]


def test_unknown_columns_change_nothing(place):
    if isinstance(place, Mongodb):
        pytest.skip("a collection takes any")
    place.write(ROWS[:3], columns=COLUMNS)
    with pytest.raises(inrush.Error, match="nope"):
        place.write([{"id": 9, "nope": 1}], if_exists="append")
    assert place.count() == 3


@pytest.mark.parametrize("how", ["rows", "generator", "writer", "frame"])
def test_all_or_nothing(place, how):
    """One bad row among many, into what was there and into what was not."""
    if isinstance(place, Mongodb):
        pytest.skip("appends are not undone there")
    polars = pytest.importorskip("polars")
    types = {"id": "integer", "name": "text"}
    good = [(number, "a") for number in range(500)]
    texts = [(str(number), "a") for number in range(400)] + [("x", "a")]
    for if_exists in ("empty", "append"):
        if if_exists == "append":
            place.write(good, columns=types)
        before = place.read() if if_exists == "append" else None
        with pytest.raises(inrush.RejectedRows) as caught:
            if how == "rows":
                place.write(texts, columns=types, if_exists=if_exists)
            elif how == "generator":
                place.write((row for row in texts), columns=types, if_exists=if_exists)
            elif how == "frame":
                place.write(polars.DataFrame(texts, schema=list(types), orient="row"), types=types, if_exists=if_exists)
            else:
                with place.writer(columns=types, if_exists=if_exists) as rows:
                    rows.insert_many(texts)
        assert caught.value.aftermath == "nothing-changed"
        assert [(row.position, row.column) for row in caught.value.rows] == [(401, "id")]
        assert (place.read() if before else place.exists()) == (before or False)


@pytest.mark.parametrize("if_exists", ["replace", "truncate", "fail"])
def test_what_becomes_of_the_table(place, if_exists):
    place.write(ROWS[:5], columns=COLUMNS)
    if if_exists == "fail":
        with pytest.raises(inrush.Error):
            place.write(ROWS, columns=COLUMNS, if_exists="fail")
        assert place.count() == 5
    else:
        place.write(ROWS[5:9], columns=COLUMNS, if_exists=if_exists)
        assert_rows(place, ROWS[5:9])


def test_no_rows(place):
    for nothing in ([], iter(()), (row for row in [])):
        with pytest.raises(inrush.UsageError, match="columns="):
            place.write(nothing)
    report = place.write([], columns={"id": "integer", "name": "text"})
    assert report.rows_loaded == 0
    if not isinstance(place, Mongodb):
        assert place.count() == 0


def test_many_rows_over_several_lanes(place):
    """Several batches, and where there are lanes, several of those."""
    count = 300 if isinstance(place, Mongodb) else 40_000
    options = {"lanes": 2} if isinstance(place, Postgres) or place.table != "t" else {}
    if isinstance(place, Mongodb):
        options = {}
    report = place.write(((number, str(number)) for number in range(count)), columns=["id", "name"], **options)
    assert report.rows_loaded == count
    assert sorted(map(int, place.values("id"))) == list(range(count))


def test_update_of_rows_with_the_same_key(place):
    if isinstance(place, (Csv,)) or not place.has_keys:
        with pytest.raises(inrush.Error):
            place.write(ROWS[:2], columns=COLUMNS, primary_key="id")
        return
    key = "_id" if isinstance(place, Mongodb) else "id"
    columns = [key, "name"]
    place.write([(1, "a"), (2, "b")], columns=columns, primary_key=key)
    report = place.write([(2, "B"), (3, "c")], columns=columns, if_exists="append", on_conflict="update", key=key)
    assert report.rows_loaded == 2
    if report.rows_inserted is not None:
        assert (report.rows_inserted, report.rows_updated) == (1, 1)
    assert sorted(place.values("name")) == ["B", "a", "c"]
    report = place.write([(2, "x"), (4, "d")], columns=columns, if_exists="append", on_conflict="skip", key=key)
    assert (report.rows_loaded, report.rows_skipped) == (1, 1)
    assert sorted(place.values("name")) == ["B", "a", "c", "d"]


def test_writer_updates_too(database):
    database.write([(1, "a"), (2, "b")], columns=["id", "name"], primary_key=["id"])
    with database.writer(if_exists="append", on_conflict="update", key=["id"]) as rows:
        rows.insert({"id": 2, "name": "B"})
        rows.insert({"id": 3, "name": "c"})
    assert sorted(database.read()[1]) == [(1, "a"), (2, "B"), (3, "c")]


def test_indexes(sqlite):
    sqlite.write(ROWS, columns=COLUMNS, primary_key="id", indexes=["name", ("at", "price")])
    connection = sqlite.connect()
    found = {row[1] for row in connection.execute("pragma index_list(t)")}
    assert len([name for name in found if not name.startswith("sqlite_")]) == 2


def test_targets_may_be_paths(tmp_path):
    inrush.write([(1,)], tmp_path / "a.db", table="t", columns=["id"])
    assert Sqlite.exists(type("It", (Sqlite,), {"url": str(tmp_path / "a.db")})(tmp_path))


def test_nothing_listens():
    for url in ("postgres://me@127.0.0.1:1/x", "mysql://me@127.0.0.1:1/x", "mongodb://127.0.0.1:1/x"):
        with pytest.raises(inrush.TargetError) as caught:
            inrush.write([(1,)], url, table="t", columns=["id"])
        assert caught.value.kind == "target"
        assert caught.value.aftermath == "nothing-changed"
