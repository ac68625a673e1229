"""5,000,000 rows by Spark, Ray and Dask, as one machine loads them."""

import pathlib
import subprocess
import sys

import pytest
from conftest import Mysql
from test_job import home, left  # noqa: F401
from test_spark import executors, slow, the_last_session_ends  # noqa: F401

import inrush

pytestmark = slow

ROWS = 5_000_000
NAMES = [f"column_{number}" for number in range(1, 9)]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    script = pathlib.Path(__file__).resolve().parents[2] / "benches" / "nodes.py"
    path = tmp_path_factory.mktemp("nodes") / "nodes.tsv"
    with open(path, "wb") as file:
        subprocess.run([sys.executable, str(script), str(ROWS)], stdout=file, check=True)
    return path


def by_parts_of_files(path, url, table):
    pytest.importorskip("inrush.spark").load(executors(), path, url, table=table, header=False, parts=8)


def by_spark(path, url, table):
    texts = ", ".join(f"{name} string" for name in NAMES)
    df = executors().read.csv(str(path), schema=texts, sep="\t", quote="")
    pytest.importorskip("inrush.spark").write(df, url, table=table)


def by_ray(path, url, table):
    ray = pytest.importorskip("ray")
    sink = pytest.importorskip("inrush.ray").Sink(url, table=table)
    csv = pytest.importorskip("pyarrow.csv")
    texts = csv.ConvertOptions(column_types={name: "string" for name in NAMES})
    read, parse = csv.ReadOptions(column_names=NAMES), csv.ParseOptions(delimiter="\t", quote_char=False)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=2 << 30)
    try:
        ray.data.from_arrow(csv.read_csv(path, read, parse, texts)).repartition(8).write_datasink(sink)
    finally:
        ray.shutdown()


def by_dask(path, url, table):
    write = pytest.importorskip("inrush.dask").write
    dataframe, distributed = pytest.importorskip("dask.dataframe"), pytest.importorskip("distributed")
    options = {"sep": "\t", "header": None, "names": NAMES, "dtype": str, "quoting": 3, "keep_default_na": False}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers, distributed.Client(workers):
        write(dataframe.read_csv(str(path), blocksize="48MB", **options), url, table=table)


def total(place, table):
    """How many rows there are, and the sum of each one's hash, as the server has them."""
    texts = ", '|', ".join(NAMES)
    if isinstance(place, Mysql):
        return place.ask(f"select count(*), sum(crc32(concat({texts}))) from {table}")[1]
    with place.connect() as connection:
        return connection.execute(f"select count(*), sum(hashtext(concat({texts}))::bigint) from {table}").fetchall()


def test_five_million_rows_are_the_same_by_every_engine(home, nodes):  # noqa: F811
    inrush.load(nodes, home.url, table=home.table, header=False, progress=False)
    whole = total(home, home.table)
    assert whole[0][0] == ROWS
    for way in (by_parts_of_files, by_spark, by_ray, by_dask):
        table = f"{home.table}_{way.__name__}"
        home.execute(f"create table {table} as select * from {home.table} where 1 = 0")
        way(nodes, home.url, table)
        assert total(home, table) == whole, way.__name__
        home.execute(f"drop table {table}")
    assert left(home) == []
