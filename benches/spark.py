#!/usr/bin/env python3
"""Rows of Spark into PostgreSQL and MariaDB, by inrush (A) and by Spark's own JDBC writer (B): spark.py [ROWS] [PAIRS] [CASE ...]

One session of `local-cluster[2,1,1024]`: a driver and two executors, processes of their own, with a core and a gigabyte each.
Both sides have written once before anything is timed, so that Java is warm, and then take turns, A B A B. Each writes into a table
that does not exist yet, and both tables are compared after each pair: rows and sums over all columns. A difference ends the bench.

Cases; what follows the + is milliseconds of round trip, by a relay:
  postgres-default+0 +2 +20   ROWS of 6 columns in 4 partitions, against JDBC with its defaults
  postgres-tuned+0 +2 +20     the same, against batches of 10,000 and rewritten inserts
  mariadb-default+0 +2 +20    the same, by MySQL's Connector/J, which is what Spark has a dialect for
  mariadb-tuned+0 +2 +20      the same, against batches of 10,000 and rewritten inserts
  load-postgres, load-mariadb one file of CSV with newlines in quotes (2.5 * ROWS), against spark.read.csv(multiLine=True) and the
                              tuned writer
  publish-postgres, -mariadb  publishing a new table, against the load itself: A / B

Where a rival would take hours it writes fewer rows (said with the case), and seconds are those of as many rows as inrush has
written. Drivers come from Maven. The Python that runs this has the packages: inrush as `make wheel` builds it, and pyspark. The relay
comes from `cargo build --profile dist -p inrush-bench --example relay`; RELAY names another one.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pairs as paired

DRIVERS = "org.postgresql:postgresql:42.7.8,com.mysql:mysql-connector-j:9.4.0"
#: What a case is to reach: how often A's time fits into B's.
WANTED = {
    "postgres-default": {0: 1.5, 2: 4, 20: 12}, "postgres-tuned": {0: 1.2, 2: 1.5, 20: 2},
    "mariadb-default": {0: 5, 2: 100, 20: 400}, "mariadb-tuned": {0: 1.5, 2: 2, 20: 2},
    "load-postgres": {0: 3}, "load-mariadb": {0: 3}, "publish-postgres": {0: 0.5}, "publish-mariadb": {0: 0.5},
}
#: Of the rows, the share that a rival writes: a thousandth of 2,000,000 at 100 rows/s is 20 seconds.
SHARE = {("mariadb-default", 2): 0.02, ("mariadb-default", 20): 0.001, ("mariadb-default", 0): 0.1}
PARTS = 4
COLUMNS = ["id", "lat", "version", "at", "uid", "name"]
#: The same of a table by whatever route its rows have come.
SUMS = {
    "postgres": "select count(*), sum(id), sum(round(lat * 100000)::bigint), sum(version), sum(extract(epoch from at)), sum(uid), "
                "sum(hashtext(name)::bigint) from {}",
    "mariadb": "select count(*), sum(id), sum(cast(round(lat * 100000) as signed)), sum(version), sum(unix_timestamp(at)), sum(uid), "
               "sum(crc32(name)) from {}",
}
TUNED = {"postgres": {"reWriteBatchedInserts": "true"}, "mariadb": {"rewriteBatchedStatements": "true"}}


class Server:
    """One server, near or far."""

    def __init__(self, kind: str, url: str) -> None:
        self.kind, self.database = kind, f"inrush_bench_{os.getpid()}"
        said = urlsplit(url)
        self.port, self.options = said.port, parse_qs(said.query)
        self.connection = self.connect(said)

    def connect(self, said):
        if self.kind == "postgres":
            import psycopg

            with psycopg.connect(said.geturl(), autocommit=True) as connection:
                connection.execute(f"create database {self.database}")
            return psycopg.connect(said._replace(path="/" + self.database).geturl(), autocommit=True)
        import pymysql

        connection = pymysql.connect(user="root", unix_socket=self.options["socket"][0], autocommit=True)
        cursor = connection.cursor()
        cursor.execute(f"create database {self.database}")
        cursor.execute(f"use {self.database}")
        # The socket's root has no way in by TCP where it is checked by its account.
        cursor.execute("create user if not exists bench@'127.0.0.1' identified by ''")
        cursor.execute("grant all on *.* to bench@'127.0.0.1'")
        return connection

    def ask(self, sql: str):
        cursor = self.connection.cursor()
        cursor.execute(sql)
        return cursor.fetchall() if cursor.description else None

    def url(self, port: int) -> str:
        user = {"postgres": "postgres://postgres", "mariadb": "mysql://bench"}[self.kind]
        return f"{user}@127.0.0.1:{port}/{self.database}"

    def jdbc(self, port: int, is_tuned: bool) -> dict[str, str]:
        more = "".join(f"&{name}={value}" for name, value in TUNED[self.kind].items()) if is_tuned else ""
        size = {"batchsize": "10000"} if is_tuned else {}
        if self.kind == "postgres":
            url = f"jdbc:postgresql://127.0.0.1:{port}/{self.database}?sslmode=disable{more}"
            return {"url": url, "user": "postgres", "driver": "org.postgresql.Driver", **size}
        url = f"jdbc:mysql://127.0.0.1:{port}/{self.database}?sslMode=DISABLED&allowPublicKeyRetrieval=true{more}"
        return {"url": url, "user": "bench", "password": "", "driver": "com.mysql.cj.jdbc.Driver", **size}

    def drop(self, *tables: str) -> None:
        for table in tables:
            self.ask(f"drop table if exists {table}")

    def sums(self, table: str):
        # One database adds up seconds with a fraction, and the other without.
        return [Decimal(str(one)) for one in self.ask(SUMS[self.kind].format(table))[0]]

    def close(self) -> None:
        if self.kind == "postgres":
            self.ask("drop table if exists inrush_jobs")
            self.connection.close()
        else:
            self.ask(f"drop database {self.database}")
            self.ask("drop user bench@'127.0.0.1'")


@contextmanager
def far(server: Server, ms: int):
    """The server's port, by so many milliseconds of round trip."""
    if ms == 0:
        yield server.port
        return
    program = os.environ.get("RELAY", str(paired.target() / "dist" / "examples" / "relay"))
    relay = subprocess.Popen([program, f"127.0.0.1:{server.port}", str(ms)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield int(relay.stdout.readline())
    finally:
        relay.stdin.close()
        relay.wait()


def session(folder: str):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("inrush-bench")
    said = {
        "spark.jars.packages": DRIVERS, "spark.jars.ivy": str(Path(folder) / "ivy"), "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1", "spark.driver.memory": "1g", "spark.executor.memory": "1g", "spark.log.level": "OFF",
        "spark.ui.showConsoleProgress": "false", "spark.sql.session.timeZone": "UTC",
    }
    for name, value in said.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def rows_of(spark, folder: str, rows: int):
    """A Parquet file a partition: what both sides read is cheap, and the same."""
    path = str(Path(folder) / f"rows-{rows}")
    if not Path(path).exists():
        spark.range(0, rows, 1, PARTS).selectExpr(
            "id * 7 id", "36 + (id * 7919 % 7999999) / 1e5 lat", "cast(1 + id % 9 as int) version",
            "timestamp_seconds(1200000000 + id * 37) at", "1000 + id * 31 % 500000 uid", "concat('user ', id * 131 % 4096) name",
        ).write.parquet(path)
    return spark.read.parquet(path)


def text_of(folder: str, rows: int) -> str:
    """One file of CSV, with a line break in quotes in one row of three."""
    path = Path(folder) / f"rows-{rows}.csv"
    if not path.exists():
        with open(path, "w") as out:
            out.write(",".join(COLUMNS) + "\n")
            for i in range(rows):
                name = f'"user\n{i % 977}, ""the {i % 7}th"""' if i % 3 == 0 else f"user {i * 131 % 4096}"
                at = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(1_200_000_000 + i * 37))
                out.write(f"{i * 7},{36 + i * 7919 % 7999999 / 1e5:.5f},{1 + i % 9},{at},{1000 + i * 31 % 500000},{name}\n")
    return str(path)


SCHEMA = "id bigint, lat double, version int, at timestamp, uid bigint, name string"
TYPES = {"id": "integer", "lat": "float", "version": "integer", "at": "timestamptz", "uid": "integer", "name": "text"}


def timed(work) -> dict:
    start = time.perf_counter()
    report = work()
    return {"s": time.perf_counter() - start, "report": report}


def jdbc(frame, server: Server, port: int, is_tuned: bool, table: str) -> None:
    options = server.jdbc(port, is_tuned)
    frame.write.format("jdbc").options(**options).option("dbtable", table).mode("append").save()


def measure(spark, server: Server, case: str, ms: int, rows: int, pairs: int, folder: str) -> None:
    import inrush.spark

    kind, what = server.kind, case.split("-")[0]
    share = SHARE.get((case, ms), 1)
    with far(server, ms) as port:
        if what == "load":
            rows = int(rows * 2.5)
            path = text_of(folder, rows)
            ours = lambda: inrush.spark.load(spark, path, server.url(port), table="a", parts=PARTS, types=TYPES)  # noqa: E731
            theirs = lambda: jdbc(  # noqa: E731
                spark.read.csv(path, header=True, multiLine=True, escape='"', schema=SCHEMA).repartition(PARTS), server, port, True, "b")
        else:
            frame = rows_of(spark, folder, rows)
            few = rows_of(spark, folder, max(int(rows * share), PARTS))
            ours = lambda: inrush.spark.write(frame, server.url(port), table="a")  # noqa: E731
            theirs = lambda: jdbc(few, server, port, case.endswith("tuned"), "b")  # noqa: E731
        runs = []
        for number in range(pairs + 1):
            server.drop("a", "b")
            first = timed(ours)
            if what == "publish":
                publishing = first["report"].seconds["total"]
                second = {"s": first["s"] - publishing}
                first = {"s": publishing}
            else:
                second = timed(theirs)
                compare(server, case, share, rows)
            if number > 0:
                runs.append((first, {"s": second["s"] / share}))
    fewer = f"   (B: {share:g} of the rows)" if share < 1 else ""
    print(f"{case + '+' + str(ms):22} {paired.figures(runs, WANTED[case][ms], what == 'publish')}{fewer}", flush=True)
    rates = [rows / statistics.median(run[side]["s"] for run in runs) for side in (0, 1)]
    print(f"{'':22} A {rates[0]:,.0f} rows/s   B {rates[1]:,.0f} rows/s", flush=True)
    paired.keep("spark", f"{case}+{ms}", runs)


def compare(server: Server, case: str, share: float, rows: int) -> None:
    a, b = server.sums("a"), server.sums("b")
    if a[0] != rows:
        sys.exit(f"{case}: {a[0]} rows of {rows}")
    # Where the rival has written fewer, they are the first of the same ids.
    if share == 1 and a != b:
        sys.exit(f"{case}: the tables differ: {a} and {b}")
    if share < 1 and b[0] != max(int(rows * share), PARTS):
        sys.exit(f"{case}: {b[0]} rows of {rows * share}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=2_000_000, metavar="ROWS")
    parser.add_argument("pairs", type=int, nargs="?", default=5, metavar="PAIRS")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="such as postgres-tuned, or postgres-tuned+20")
    args = parser.parse_args()
    every = [f"{case}+{ms}" for case, wanted in WANTED.items() for ms in wanted]
    wanted = [one for one in every if not args.cases or one in args.cases or one.rpartition("+")[0] in args.cases]
    if not wanted:
        sys.exit(f"no such case; there are {' '.join(every)}")
    urls = {}
    for one in os.environ.get("INRUSH_TEST_SERVERS", "").split():
        name, _, url = one.partition("=")
        urls.setdefault(name.partition("-")[0], url)
    with tempfile.TemporaryDirectory(prefix="inrush-bench-") as folder:
        spark = session(os.environ.get("IVY", folder))
        servers = {}
        try:
            for one in wanted:
                case, _, ms = one.rpartition("+")
                kind = "postgres" if "postgres" in case else "mariadb"
                if kind not in urls:
                    sys.exit(f"no server {kind}: start this by the servers' program, or `make bench-spark`")
                if kind not in servers:
                    servers[kind] = Server(kind, urls[kind])
                measure(spark, servers[kind], case, int(ms), args.rows, args.pairs, folder)
        finally:
            spark.stop()
            for server in servers.values():
                server.close()


if __name__ == "__main__":
    main()
