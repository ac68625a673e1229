"""Spark: rows written and files read by its executors, each once, whatever fails on the way."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from conftest import ALL, kinds, make_place, servers, slow
from test_job import FAMILIES, collection, hidden, home  # noqa: F401

import inrush

pyspark = pytest.importorskip("pyspark")
inrush_spark = pytest.importorskip("inrush.spark")

ROWS, PARTS = 20_000 if ALL else 2_000, 4


def session(master, **options):
    """A session of this kind: the one that there is, or a new one in its place, for a process has one at a time."""
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        if active.sparkContext.master == master:
            return active
        active.stop()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    # Executors know nothing of the tests' own modules.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    builder = SparkSession.builder.master(master).appName("inrush")
    said = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        # Java compiles for a session of seconds, not of hours.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.log.level": "OFF",
        "spark.ui.showConsoleProgress": "false",
        **options,
    }
    for name, value in said.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@pytest.fixture(autouse=True, scope="module")
def the_last_session_ends():
    yield
    active = pyspark.sql.SparkSession.getActiveSession()
    if active is not None:
        active.stop()


def frame(spark, rows=ROWS, parts=PARTS):
    return spark.range(0, rows, 1, parts).selectExpr("id", "concat('n', id) name")


def assert_once(place, rows=ROWS):
    """Each row is there once, and what it should be."""
    found = place.read()[1]
    assert sorted(found) == [(one, f"n{one}") for one in range(rows)]
    assert hidden(place) == []


def places(databases, folder):
    """Servers that have jobs, in one test, for a session takes ten seconds; one of each family, unless all is tested."""
    found = [make_place(kind, folder, databases) for kind in kinds() if kind in servers() and kind.startswith(FAMILIES)]
    families = [type(place) for place in found]
    return [place for at, place in enumerate(found) if ALL or type(place) not in families[:at]]


def format_inrush(df, place, **options):
    writing = df.write.format("inrush").option("url", place.url).option("table", place.table)
    for name, value in options.items():
        writing = writing.option(name, value)
    return writing


def test_rows_and_files_come_by_spark(databases, tmp_path):
    spark = session("local[2]")
    for number, place in enumerate(places(databases, tmp_path)):
        report = inrush.spark.write(frame(spark), place.url, table=place.table, job_id=f"first {place.table}")
        assert (report.rows_loaded, report.attempts, report.state) == (ROWS, PARTS, "committed")
        assert_once(place)
        # The same job again: loaded already. Another one recreates the table.
        assert inrush.spark.write(frame(spark), place.url, table=place.table, job_id=f"first {place.table}") == report
        if number == 0:
            format_inrush(frame(spark, 100), place).mode("overwrite").save()
            assert_once(place, 100)
        if number == 0 or ALL:
            files(spark, place, tmp_path)


def assert_documents(place, write):
    """A new collection comes at once, and rows for an existing one partition by partition; `write` takes ids and options."""
    report = write(range(200), url=place.url, table=place.table)
    assert (report.rows_loaded, report.attempts, report.guarantee) == (200, PARTS, "atomic")
    assert_once(place, 200)
    with pytest.raises(inrush.Error, match="per_partition"):
        write(range(200, 400), url=place.url, table=place.table)
    for _ in range(2):
        report = write(range(200, 400), url=place.url, table=place.table, job_id=place.job, guarantee="per_partition")
        assert (report.rows_loaded, report.attempts, report.guarantee) == (200, PARTS, "per_partition")
        assert_once(place, 400)


def test_documents_come_by_spark(collection):  # noqa: F811
    spark = session("local[2]")

    def write(ids, **options):
        df = spark.range(ids.start, ids.stop, 1, PARTS).selectExpr("id", "concat('n', id) name")
        return inrush.spark.write(df, **options)

    assert_documents(collection, write)


def test_partitions_come_in_by_themselves(databases, tmp_path):
    """Also those without rows, and of a job that failed only those that are missing."""
    spark = session("local[2]")
    for place in places(databases, tmp_path)[:1]:
        options = {"table": place.table, "job_id": f"parts {place.table}", "guarantee": "per_partition"}
        folder = str(tmp_path)

        def fails(batches):
            from pyspark import TaskContext

            if TaskContext.get().partitionId() == 2 and not os.path.exists(folder + "/repaired"):
                time.sleep(2)
                raise RuntimeError("not today")
            yield from batches

        # Partition 1 has no rows.
        df = frame(spark).where(f"id < {ROWS // PARTS} or id >= {2 * ROWS // PARTS}").mapInArrow(fails, "id long, name string")
        with pytest.raises(Exception, match="not today"):
            inrush.spark.write(df, place.url, **options)
        seen = place.count()
        assert seen >= ROWS // PARTS
        pathlib.Path(folder, "repaired").touch()
        report = inrush.spark.write(df, place.url, **options)
        assert (report.rows_loaded, report.attempts, report.guarantee) == (ROWS * 3 // 4, PARTS, "per_partition")
        assert len(set(place.values("id"))) == place.count() == ROWS * 3 // 4
        assert hidden(place) == []
        place.table += "_source"
        format_inrush(frame(spark, 100), place, guarantee="per_partition").mode("append").save()
        assert_once(place, 100)


def test_no_guarantee_is_refused_where_tasks_run_twice():
    class Speculating:
        class conf:
            @staticmethod
            def get(name, default):
                return "true" if name == "spark.speculation" else default

    with pytest.raises(inrush.UsageError, match="spark.speculation .* force=True"):
        inrush_spark._refuse_copies(Speculating, {"guarantee": "none"}, False)
    inrush_spark._refuse_copies(Speculating, {"guarantee": "none"}, True)
    inrush_spark._refuse_copies(Speculating, {"guarantee": "per_partition"}, False)
    source = pytest.importorskip("inrush._spark_source")
    said = {"url": "postgres://app@db/shop", "table": "t", "guarantee": "none"}
    with pytest.raises(inrush.UsageError, match="option force"):
        source.Writer(None, False, said)


def test_what_the_data_source_does_not_know_is_refused():
    source = pytest.importorskip("inrush._spark_source")
    good = {"URL": "postgres://app@db/shop", "table": "t", "connections": "3", "key": "a, b"}
    assert source._read(good) == {"url": "postgres://app@db/shop", "table": "t", "connections": 3, "key": ["a", "b"]}
    for wrong, words in {
        "tabel": "'tabel' is no option: there are ",
        "path": "a database has no path",
        "connections": "connections: 'many' is no number",
    }.items():
        with pytest.raises(inrush.UsageError, match=words):
            source._read({**good, wrong: "many"})
    with pytest.raises(inrush.UsageError, match="the option 'table' is missing"):
        source._read({"url": "postgres://app@db/shop"})
    with pytest.raises(inrush.UsageError, match="mode: 'ignore' is none of append, overwrite"):
        inrush.spark.write(None, "postgres://app@db/shop", table="t", mode="ignore")


def files(spark, place, folder):
    path = folder / f"{place.table}.csv"
    with open(path, "w") as file:
        file.write("id,name,said\n")
        file.writelines(f'{one},n{one},"first\n{one},x,""second""\n"\n' for one in range(2_000))
    place.table += "_files"
    report = inrush.spark.load(spark, path, place.url, table=place.table, mode="overwrite", parts=5)
    assert (report.rows_loaded, report.attempts) == (2_000, 5)
    names, rows = place.read()
    assert names == ["id", "name", "said"]
    assert sorted(rows) == [(one, f"n{one}", f'first\n{one},x,"second"\n') for one in range(2_000)]
    # A bad row has its place in the file, whoever has read it.
    with open(path, "a") as file:
        file.write("2000,n2000\nnone,n2001,said\n")
    report = inrush.spark.load(spark, [path], place.url, table=place.table, mode="append", parts=3, max_rejects=2)
    assert [(bad["record"], bad["line"], bad["code"], bad["file"]) for bad in report.rejected] == [
        (2_001, 2 + 3 * 2_000, "field-count", str(path)),
        (2_002, 3 + 3 * 2_000, "type", str(path)),
    ]
    assert place.count() == 4_000
    with pytest.raises(inrush.UsageError, match="is none of append, overwrite"):
        inrush.spark.load(spark, path, place.url, table=place.table, mode="error")
    assert hidden(place) == []


# Faults take minutes: executors are killed, and Spark waits. Each happens in the first attempts at a task, and in the executors,
# which are processes of their own.


def executors():
    return session("local-cluster[2,1,1024]", **{"spark.task.maxFailures": "4", "spark.executor.memory": "1g"})


@pytest.fixture
def cluster():
    return executors()


def is_first():
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.attemptNumber() == 0 and context.partitionId() % 2 == 0


def kill_executor():
    """Ends the Java process that this process of Python works for."""
    parent = os.getpid()
    while "java" not in pathlib.Path(f"/proc/{parent}/comm").read_text():
        parent = int(pathlib.Path(f"/proc/{parent}/stat").read_text().rsplit(")", 1)[1].split()[1])
    os.kill(parent, signal.SIGKILL)
    time.sleep(60)


def nothing():
    pass


def fail():
    raise RuntimeError("the task fails after its commit")


def within(fault):
    """A fault while the rows of an attempt come."""

    def attempt(batches):
        for number, batch in enumerate(batches):
            if number == 1 and is_first():
                fault()
            yield batch

    return attempt


def after(fault):
    """A fault when an attempt has committed, and nobody has heard of it."""

    def attempt(batches):
        for batch in batches:
            if is_first():
                fault()
            yield batch

    return attempt


def written(place, df, fault, way):
    """Writes a frame, with a fault when an attempt has committed."""
    if way == "write":
        # As inrush.spark.write does, and one step more.
        job = inrush.job.begin(place.url, inrush_spark.schema_of(df.schema), table=place.table)
        answers = df.mapInArrow(inrush_spark._rows_of(str(job)), "token string").mapInArrow(after(fault), "token string")
        return inrush_spark._run(job, lambda: answers)
    from inrush._spark_source import Writer
    from pyspark.sql.datasource import DataSource

    class Failing(Writer):
        def write(self, iterator):
            message = super().write(iterator)
            if is_first():
                fault()
            return message

    class Source(DataSource):
        @classmethod
        def name(cls):
            return "failing"

        def writer(self, schema, overwrite):
            return Failing(schema, overwrite, self.options)

    df.sparkSession.dataSource.register(Source)
    df.write.format("failing").option("url", place.url).option("table", place.table).mode("append").save()
    return None


@slow
@pytest.mark.parametrize("way", ["write", "format"])
@pytest.mark.parametrize("fault", [fail, kill_executor])
def test_a_task_that_fails_after_its_commit_writes_its_rows_once(cluster, home, fault, way):  # noqa: F811
    written(home, frame(cluster), fault, way)
    assert_once(home)


@slow
def test_an_executor_that_is_killed_amid_its_rows_leaves_none_of_them(cluster, home):  # noqa: F811
    cluster.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
    df = frame(cluster)
    inrush.spark.write(df.mapInArrow(within(kill_executor), df.schema), home.url, table=home.table)
    assert_once(home)


@slow
@pytest.mark.parametrize("way", ["write", "format"])
def test_a_partition_that_never_succeeds_leaves_nothing(cluster, home, way):  # noqa: F811
    home.execute(f"create table {home.table} (id bigint, name varchar(20))")
    home.execute(f"insert into {home.table} values (0, 'n0')")
    df = frame(cluster).selectExpr("id", "if(id = 19999, cast(raise_error('never') as string), name) name")
    with pytest.raises(Exception, match="never"):
        if way == "write":
            inrush.spark.write(df, home.url, table=home.table, job_id="never " + home.table)
        else:
            format_inrush(df, home, job_id="never " + home.table).mode("append").save()
    assert_once(home, 1)
    # The name is free.
    report = inrush.spark.write(frame(cluster).where("id > 0"), home.url, table=home.table, job_id="never " + home.table)
    assert report.rows_loaded == ROWS - 1
    assert_once(home)


@slow
def test_a_reader_of_files_that_is_killed_reads_them_again(cluster, home, tmp_path):  # noqa: F811
    path = tmp_path / "in.csv"
    path.write_text("id,name\n" + "".join(f"{one},n{one}\n" for one in range(ROWS)))
    job, splits = inrush.job.begin_files(home.url, path, table=home.table, parts=PARTS)
    numbers = cluster.range(0, len(splits), 1, len(splits))
    answers = numbers.mapInArrow(inrush_spark._part_of(str(job), splits), "token string")
    inrush_spark._run(job, lambda: answers.mapInArrow(after(kill_executor), "token string"))
    assert_once(home)
    path.write_text("id,name\n1,n1\n")
    job, splits = inrush.job.begin_files(home.url, path, table=home.table, parts=1)
    path.write_text("id,name\n1,n1\n2,n2\n")
    with pytest.raises(Exception, match="has changed since it was split"):
        inrush_spark._run(job, lambda: cluster.range(1).mapInArrow(inrush_spark._part_of(str(job), splits), "token string"))
    assert_once(home)


DRIVES = """
import os, sys
sys.path[:0] = sys.argv[3:]
import inrush.spark, test_spark
url, table = sys.argv[1:3]
spark = test_spark.session("local[2]")
publish = inrush.job.publish
def waits(job, tokens):
    print("written", len(tokens), flush=True)
    sys.stdin.read()
inrush.job.publish = waits
inrush.spark.write(test_spark.frame(spark), url, table=table, job_id="driven " + table)
"""


@slow
def test_a_driver_that_is_killed_before_it_publishes_leaves_nothing(home):  # noqa: F811
    # The Java process ends with the pipe to it, whoever has ended the driver.
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVES, home.url, home.table, *sys.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == f"written {PARTS}\n"
    process.kill()
    process.wait()
    assert home.count() is None and hidden(home) != []
    assert inrush.job.recover(home.url, "driven " + home.table).state == "aborted"
    assert home.count() is None and hidden(home) == []
    inrush.spark.write(frame(session("local[2]")), home.url, table=home.table, job_id="driven " + home.table)
    assert_once(home)


@slow
def test_two_attempts_at_one_task_are_published_once(home, tmp_path):  # noqa: F811
    """Spark begins a slow task a second time, on another host; here a host is an address of this one."""
    spark_home = pathlib.Path(pyspark.__file__).parent
    environment = {**os.environ, "SPARK_HOME": str(spark_home), "PYSPARK_PYTHON": sys.executable, "SPARK_NO_DAEMONIZE": "1"}
    (tmp_path / "log4j2.properties").write_text("rootLogger.level = info\nrootLogger.appenderRef.c.ref = c\n"
        "appender.c.type = Console\nappender.c.name = c\nappender.c.target = SYSTEM_ERR\nappender.c.layout.type = PatternLayout\n")
    environment["SPARK_CONF_DIR"] = str(tmp_path)
    processes = []

    def start(log, *words):
        out = open(tmp_path / log, "w")
        command = [spark_home / "bin" / "spark-class", *words]
        processes.append(subprocess.Popen(command, stdout=out, stderr=out, env=environment, cwd=tmp_path))

    def wait_for(log, words):
        until = time.monotonic() + 120
        while words not in (tmp_path / log).read_text():
            assert time.monotonic() < until, (tmp_path / log).read_text()
            time.sleep(0.1)
        return (tmp_path / log).read_text()

    try:
        start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        said = wait_for("master", "Starting Spark master at ")
        url = said.partition("Starting Spark master at ")[2].split()[0]
        for host in ("127.0.0.1", "127.0.0.2"):
            words = ("--host", host, "--webui-port", "0", "--cores", "1", "--memory", "1g", "--work-dir", tmp_path / host, url)
            start(f"worker-{host}", "org.apache.spark.deploy.worker.Worker", *words)
        for host in ("127.0.0.1", "127.0.0.2"):
            wait_for(f"worker-{host}", "Successfully registered with master")
        speculation = {"enabled": "true", "interval": "100ms", "multiplier": "1.1", "quantile": "0.25", "minTaskRuntime": "100ms"}
        spark = session(url, **{f"spark.speculation.{name}".replace(".enabled", ""): value for name, value in speculation.items()})
        try:
            speculate(spark, home, tmp_path)
        finally:
            spark.stop()
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()


def speculate(spark, home, folder):  # noqa: F811
    def slowly(batches):
        """The first attempt at the last part waits until there is a second one that has committed."""
        from pyspark import TaskContext

        context = TaskContext.get()
        for batch in batches:
            if context.partitionId() == PARTS - 1:
                (folder / f"committed.{context.attemptNumber()}").touch()
                until = time.monotonic() + 60
                while context.attemptNumber() == 0 and time.monotonic() < until and not (folder / "committed.1").exists():
                    time.sleep(0.05)
            yield batch

    df = frame(spark)
    job = inrush.job.begin(home.url, inrush_spark.schema_of(df.schema), table=home.table)
    answers = df.mapInArrow(inrush_spark._rows_of(str(job)), "token string").mapInArrow(slowly, "token string")
    inrush_spark._run(job, lambda: answers)
    assert sorted(path.name for path in folder.glob("committed.*")) == ["committed.0", "committed.1"]
    assert sorted(home.read()[1]) == [(one, f"n{one}") for one in range(ROWS)]
    # An attempt that is still at work when its job is published goes with the next sweep.
    until = time.monotonic() + 30
    while hidden(home) and time.monotonic() < until:
        inrush.job.gc(home.url, 0)
        time.sleep(0.2)
    assert_once(home)


@slow
def test_the_flights_come_by_spark_as_they_come_by_one_machine(cluster, home):  # noqa: F811
    path = pathlib.Path(__file__).resolve().parents[2] / "target" / "testdata" / "flights.csv"
    if not path.exists():
        pytest.skip("`make testdata` fetches it")
    inrush.load(path, home.url, table=home.table, progress=False)
    whole = sums(home)
    for table, load in {
        "by_split": lambda name: inrush.spark.load(cluster, path, home.url, table=name, parts=6),
        "by_rows": lambda name: inrush.spark.write(
            cluster.read.csv(str(path), header=True, inferSchema=True, nullValue="NA"), home.url, table=name
        ),
    }.items():
        report = load(home.table + table)
        home.table, own = home.table + table, home.table
        assert report.rows_loaded == 336_776
        if table == "by_split":
            assert sums(home) == whole
        home.table = own
    assert hidden(home) == []


def sums(place):
    names, rows = place.read()
    return names, len(rows), hash(tuple(sorted(map(repr, rows))))
