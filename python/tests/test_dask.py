"""Dask: partitions written by its workers, each once, whatever fails on the way."""

import datetime
import os
import pathlib
import signal

import pytest
from test_job import collection, home, left  # noqa: F401
from test_spark import assert_documents, assert_once, slow, sums

import inrush

pandas = pytest.importorskip("pandas")
dask = pytest.importorskip("dask")
dataframe = pytest.importorskip("dask.dataframe")
inrush_dask = pytest.importorskip("inrush.dask")

pytestmark = slow

ROWS, PARTS = 20_000, 4


def frame(rows=ROWS):
    return dataframe.from_pandas(pandas.DataFrame({"id": range(rows), "name": [f"n{one}" for one in range(rows)]}), npartitions=PARTS)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def test_partitions_come_by_threads(home):  # noqa: F811
    report = inrush.dask.write(frame(), home.url, table=home.table, job_id="dask " + home.table)
    assert (report.rows_loaded, report.attempts) == (ROWS, PARTS)
    assert_once(home)
    assert inrush.dask.write(frame(), home.url, table=home.table, job_id="dask " + home.table) == report
    inrush.dask.write(frame(10), home.url, table=home.table, if_exists="replace")
    assert_once(home, 10)


def test_columns_of_objects_have_the_types_that_are_said(home):  # noqa: F811
    """Of these Dask knows no type, and has texts or objects for it."""
    days = [datetime.date(2026, 1, 1), None, datetime.date(2026, 1, 3)]
    with dask.config.set({"dataframe.convert-string": False}):
        given = dataframe.from_pandas(pandas.DataFrame({"id": [1, 2, 3], "day": pandas.Series(days, dtype=object)}), npartitions=2)
        with pytest.raises(inrush.UsageError, match="nothing says of what type column day is") as caught:
            inrush.dask.write(given, home.url, table=home.table)
        assert caught.value.advice[0] == 'say it, as in types={"day": "text"}'
        inrush.dask.write(given, home.url, table=home.table, types={"day": "date"})
        inrush.dask.write(given, home.url, table=home.table)
    assert sorted(home.read()[1], key=str) == sorted([*zip([1, 2, 3], days)] * 2, key=str)


def test_a_load_goes_on_behind_its_partitions(home):  # noqa: F811
    options = {"table": home.table, "job_id": "parts " + home.table, "guarantee": "per_partition"}

    def fails(part):
        if len(part) and part["id"].iloc[0] == ROWS // PARTS:
            raise RuntimeError("not today")
        return part

    meta = frame()._meta
    with pytest.raises(RuntimeError, match="not today"):
        inrush.dask.write(frame().map_partitions(fails, meta=meta), home.url, **options)
    report = inrush.dask.write(frame(), home.url, **options)
    assert (report.rows_loaded, report.attempts, report.guarantee) == (ROWS, PARTS, "per_partition")
    assert_once(home)


def test_documents_come_by_dask(collection):  # noqa: F811
    def write(ids, **options):
        rows = pandas.DataFrame({"id": ids, "name": [f"n{one}" for one in ids]})
        return inrush.dask.write(dataframe.from_pandas(rows, npartitions=PARTS), **options)

    assert_documents(collection, write)


def only_once(folder, number):
    """Whether this is the first time, over all processes."""
    try:
        os.close(os.open(pathlib.Path(folder) / f"fault.{number}", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def test_a_worker_that_is_killed_writes_its_rows_once(cluster, home, tmp_path):  # noqa: F811
    folder = str(tmp_path)

    def dies(part, number):
        if number == 1 and only_once(folder, number):
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    ddf = dataframe.from_map(
        lambda number: dies(pandas.DataFrame({"id": range(number * 5_000, (number + 1) * 5_000)}), number)
        .assign(name=lambda part: "n" + part["id"].astype(str)),
        range(PARTS),
        meta=pandas.DataFrame({"id": [0], "name": ["n"]}).iloc[:0],
    )
    inrush.dask.write(ddf, home.url, table=home.table)
    assert list(tmp_path.glob("fault.*"))
    assert_once(home)


def test_a_worker_that_is_killed_after_its_commit_writes_its_rows_once(cluster, home, tmp_path):  # noqa: F811
    """As inrush.dask.write does, and one step more."""
    folder = str(tmp_path)

    def committed(token, number):
        if number % 2 == 0 and only_once(folder, number):
            os.kill(os.getpid(), signal.SIGKILL)
        return token

    def write(job, part, number):
        return committed(str(inrush.job.write(job, part)), number)

    job = inrush.job.begin(home.url, frame()._meta_nonempty, table=home.table, attempts=PARTS)
    parts = frame().to_delayed()
    tokens = dask.compute(*(dask.delayed(write, pure=False)(str(job), part, number) for number, part in enumerate(parts)))
    assert len(list(tmp_path.glob("fault.*"))) == 2
    inrush.job.publish(job, tokens)
    assert_once(home)


def test_a_partition_that_never_succeeds_leaves_nothing(cluster, home):  # noqa: F811
    def never(part):
        assert 19_999 not in set(part["id"]), "never"
        return part

    with pytest.raises(AssertionError, match="never"):
        inrush.dask.write(frame().map_partitions(never, meta=frame()._meta), home.url, table=home.table)
    assert not home.exists() and left(home) == []


def test_the_flights_come_by_dask(cluster, home):  # noqa: F811
    path = pathlib.Path(__file__).resolve().parents[2] / "target" / "testdata" / "flights.csv"
    if not path.exists():
        pytest.skip("`make testdata` fetches it")
    inrush.load(path, home.url, table=home.table, nulls=["NA"], progress=False)
    whole = sums(home)
    own = home.table
    home.table = own + "_dask"
    ddf = dataframe.read_csv(str(path), dtype=str, blocksize="8MB")
    home.execute(f"create table {home.table} as select * from {own} where 1 = 0")
    inrush.dask.write(ddf, home.url, table=home.table)
    assert sums(home) == whole
    home.table = own
