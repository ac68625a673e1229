"""Ray Data: blocks written by its workers, each once, whatever fails on the way."""

import os
import pathlib
import signal
import sys

import pytest
from test_dask import only_once
from test_job import collection, home, left  # noqa: F401
from test_spark import assert_documents, assert_once, slow, sums

import inrush

pyarrow = pytest.importorskip("pyarrow")
ray = pytest.importorskip("ray")
inrush_ray = pytest.importorskip("inrush.ray")

pytestmark = slow

ROWS, PARTS = 20_000, 4


@pytest.fixture(scope="module", autouse=True)
def cluster():
    from ray import cloudpickle

    # Workers know nothing of the tests' own modules.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    cloudpickle.register_pickle_by_value(sys.modules["test_dask"])
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200 << 20)
    yield
    ray.shutdown()


def rows(ids=range(ROWS)):
    count = len(ids)
    table = pyarrow.table({"id": list(ids), "name": [f"n{one}" for one in ids]})
    size = -(-count // PARTS)
    return ray.data.from_arrow([table.slice(start, size) for start in range(0, count, size)])


def test_blocks_come_by_workers(home):  # noqa: F811
    sink = inrush.ray.Sink(home.url, table=home.table, job_id="ray " + home.table)
    rows().write_datasink(sink)
    assert sink.report.rows_loaded == ROWS
    assert_once(home)
    again = inrush.ray.Sink(home.url, table=home.table, job_id="ray " + home.table)
    rows().write_datasink(again)
    assert again.report == sink.report
    rows(range(10)).write_datasink(inrush.ray.Sink(home.url, table=home.table, if_exists="replace"))
    assert_once(home, 10)


def test_documents_come_by_ray(collection, monkeypatch):  # noqa: F811
    monkeypatch.setattr(ray.data.DataContext.get_current().execution_options, "preserve_order", True)

    def write(ids, url, **options):
        sink = inrush.ray.Sink(url, **options)
        rows(ids).write_datasink(sink)
        return sink.report

    assert_documents(collection, write)


def test_the_schema_is_the_one_that_is_said(home):  # noqa: F811
    schema = pyarrow.schema([("id", pyarrow.string()), ("name", pyarrow.string())])
    rows(range(10)).write_datasink(inrush.ray.Sink(home.url, table=home.table, schema=schema))
    assert sorted(home.read()[1]) == [(str(number), f"n{number}") for number in range(10)]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_worker_that_is_killed_writes_its_rows_once(home, tmp_path, when):  # noqa: F811
    folder = str(tmp_path)

    class Dying(inrush.ray.Sink):
        def write(self, blocks, ctx):
            if when == "after":
                token = super().write(blocks, ctx)
            if only_once(folder, "one"):
                os.kill(os.getpid(), signal.SIGKILL)
            return token if when == "after" else super().write(blocks, ctx)

    rows().write_datasink(Dying(home.url, table=home.table))
    assert list(tmp_path.glob("fault.*"))
    assert_once(home)


def test_a_block_that_never_succeeds_leaves_nothing(home):  # noqa: F811
    def never(batch):
        assert 19_999 not in set(batch["id"].tolist()), "never"
        return batch

    with pytest.raises(Exception, match="never"):
        rows().map_batches(never).write_datasink(inrush.ray.Sink(home.url, table=home.table))
    assert not home.exists() and left(home) == []


def test_the_flights_come_by_ray(home):  # noqa: F811
    path = pathlib.Path(__file__).resolve().parents[2] / "target" / "testdata" / "flights.csv"
    if not path.exists():
        pytest.skip("`make testdata` fetches it")
    inrush.load(path, home.url, table=home.table, nulls=["NA"], progress=False)
    whole, own = sums(home), home.table
    home.table = own + "_ray"
    home.execute(f"create table {home.table} as select * from {own} where 1 = 0")
    from pyarrow import csv

    texts = csv.ConvertOptions(strings_can_be_null=True, null_values=["NA", ""], column_types={name: "string" for name in whole[0]})
    ds = ray.data.from_arrow(csv.read_csv(path, convert_options=texts)).repartition(6)
    ds.write_datasink(inrush.ray.Sink(home.url, table=home.table))
    assert sums(home) == whole
    home.table = own


def test_blocks_of_a_task_have_one_type_for_each_column(home, monkeypatch):  # noqa: F811
    monkeypatch.setattr(ray.data.DataContext.get_current(), "target_max_block_size", 4000)

    def halves(_):
        yield {"id": list(range(1000)), "v": list(range(1000))}
        yield {"id": list(range(1000, 2000)), "v": [number + 0.5 for number in range(1000, 2000)]}

    def write(**options):
        start = ray.data.from_arrow(pyarrow.table({"k": [1]}))
        start.map_batches(halves).write_datasink(inrush.ray.Sink(home.url, table=home.table, **options))

    with pytest.raises(Exception, match="say schema=|give all of them one type"):
        write()
    assert not home.exists()
    write(schema=pyarrow.schema([("id", pyarrow.int64()), ("v", pyarrow.float64())]))
    names, found = home.read()
    assert sorted(found) == [(number, number if number < 1000 else number + 0.5) for number in range(2000)]
