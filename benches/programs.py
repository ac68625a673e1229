#!/usr/bin/env python3
"""Rows of a Python program into databases, by inrush and by what people use: programs.py [ROWS] [PAIRS] [CASE ...]

The program has its rows (the nodes table) in memory: as a Polars frame, or as a list of tuples. Each side runs in a process of its own, which
makes the rows and then times the call that writes them, commit included; interleaved A B A B, (A) inrush. After each pair both tables are compared,
and a difference ends the bench: there is no time without a verified table.

Cases, frames first:
  sqlite-adbc          a new SQLite database (5 * ROWS), against Polars' write_database by ADBC
  sqlite-pandas        the same, against pandas' to_sql (ROWS / 2)
  postgres-adbc        a new PostgreSQL table with its key, against ADBC's adbc_ingest and ALTER TABLE
  postgres-psycopg     the same, against psycopg's copy with write_row
  postgres-sqlalchemy  the same, against pandas' to_sql by SQLAlchemy (ROWS / 10)
  mariadb-mysqlclient  a new MariaDB table with its key, against mysqlclient's executemany
  mariadb-pandas       the same, against pandas' to_sql(method="multi") (ROWS / 10)
  tuples-sqlite        a list of tuples of 8 values, against sqlite3's executemany in one transaction
  tuples-postgres      the same, against psycopg's copy with write_row
  tuples-mariadb       the same, against mysqlclient's executemany
  insert               one row, a dict of 3 values, into a Writer: microseconds, and the process's memory (10 * ROWS rows)

The servers are those of INRUSH_TEST_SERVERS. The Python that runs this has the packages: inrush as `make wheel` builds it, and the rivals of PyPI
(polars, pyarrow, pandas, adbc-driver-sqlite, adbc-driver-postgresql, psycopg, mysqlclient, sqlalchemy).
"""

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pairs as paired

WANTED = {
    "sqlite-adbc": 10, "sqlite-pandas": 25, "postgres-adbc": 1.5, "postgres-psycopg": 4, "postgres-sqlalchemy": 20,
    "mariadb-mysqlclient": 5, "mariadb-pandas": 8, "tuples-sqlite": 2, "tuples-postgres": 2, "tuples-mariadb": 5,
}
SHARE = {"sqlite-adbc": 5, "sqlite-pandas": 0.5, "postgres-sqlalchemy": 0.1, "mariadb-pandas": 0.1}
NAMES = ["id", "lat", "lon", "version", "at", "changeset", "uid", "name"]
DEFINITION = ("id bigint PRIMARY KEY, lat double precision, lon double precision, version bigint, at timestamp, changeset bigint, "
              "uid bigint, name varchar(255)")

# What every worker begins with: the rows, and a clock.
PRELUDE = '''
import json, resource, time
import polars
frame = polars.read_parquet({file!r})
{rows}
def timed(work):
    start = time.perf_counter()
    work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({{"s": time.perf_counter() - start, "mb": peak}}))
'''
TUPLES = "rows = list(frame.iter_rows())"

OURS = '''
import inrush
timed(lambda: inrush.write({what}, {url!r}, table={table!r}, progress=False{more}))
'''
RIVALS = {
    "sqlite-adbc": '''
timed(lambda: frame.write_database("t", "sqlite:///" + {db!r}, engine="adbc"))
''',
    "sqlite-pandas": '''
import sqlite3
frame = frame.to_pandas()
def work():
    connection = sqlite3.connect({db!r})
    frame.to_sql("t", connection, index=False)
    connection.commit()
timed(work)
''',
    "postgres-adbc": '''
import adbc_driver_postgresql.dbapi as dbapi
def work():
    with dbapi.connect({tcp!r}) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("b", frame.to_arrow())
        cursor.execute("ALTER TABLE b ADD PRIMARY KEY (id)")
        connection.commit()
timed(work)
''',
    "postgres-psycopg": '''
import psycopg
def work():
    with psycopg.connect({tcp!r}) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE b ({definition})")
        with cursor.copy("COPY b FROM STDIN") as copy:
            for row in {each}:
                copy.write_row(row)
timed(work)
''',
    "postgres-sqlalchemy": '''
import sqlalchemy
frame = frame.to_pandas()
engine = sqlalchemy.create_engine({sqlalchemy!r})
def work():
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE b ({definition})"))
        frame.to_sql("b", connection, index=False, if_exists="append")
timed(work)
''',
    "mariadb-mysqlclient": '''
import MySQLdb
def work():
    connection = MySQLdb.connect(unix_socket={socket!r}, user="root", database="bench", charset="utf8mb4")
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE b ({definition}) CHARACTER SET utf8mb4")
    cursor.executemany("INSERT INTO b VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", {each})
    connection.commit()
timed(work)
''',
    "mariadb-pandas": '''
import sqlalchemy
frame = frame.to_pandas()
engine = sqlalchemy.create_engine("mysql+mysqldb://root@/bench?charset=utf8mb4&unix_socket=" + {socket!r})
def work():
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE b ({definition}) CHARACTER SET utf8mb4"))
        frame.to_sql("b", connection, index=False, if_exists="append", method="multi", chunksize=1_000)
timed(work)
''',
    "tuples-sqlite": '''
import datetime, sqlite3
sqlite3.register_adapter(datetime.datetime, lambda moment: moment.isoformat(" "))
def work():
    connection = sqlite3.connect({db!r})
    connection.execute("CREATE TABLE t ({definition})")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    connection.commit()
timed(work)
''',
}
RIVALS["tuples-postgres"] = RIVALS["postgres-psycopg"]
RIVALS["tuples-mariadb"] = RIVALS["mariadb-mysqlclient"]

INSERT = '''
import json, resource, time
import inrush
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
row = {{"id": 1, "at": 2.5, "name": "some event"}}
with inrush.Writer({db!r}, table="t", progress=False) as writer:
    insert, before = writer.insert, peak()
    start = time.perf_counter()
    for _ in range({rows}):
        insert(row)
    seconds = time.perf_counter() - start
print(json.dumps({{"s": seconds, "mb": peak() - before}}))
'''


class Server:
    """A server of INRUSH_TEST_SERVERS, with a database of the bench's own."""

    def __init__(self, kind: str):
        entries = [one.split("=", 1) for one in os.environ.get("INRUSH_TEST_SERVERS", "").split()]
        urls = [url for name, url in entries if name.startswith(kind)]
        if not urls:
            sys.exit(f"INRUSH_TEST_SERVERS names no {kind}; `make bench-programs` starts one")
        parts = urlsplit(urls[0])
        self.kind, self.port, query = kind, parts.port, parse_qs(parts.query)
        if kind == "postgres":
            self.socket = query["host"][0]
            self.url = f"postgres://postgres@127.0.0.1:{self.port}/bench?host={self.socket}"
            self.client = ["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-h", self.socket, "-p", str(self.port), "-U", "postgres"]
            self.sql("DROP DATABASE IF EXISTS bench WITH (FORCE)", "postgres")
            self.sql("CREATE DATABASE bench", "postgres")
        else:
            self.socket = unquote(query["socket"][0])
            self.url = f"mysql://root@localhost/bench?socket={self.socket}"
            self.client = ["mariadb", "--no-defaults", "--user=root", f"--socket={self.socket}", "--batch", "--skip-column-names"]
            self.sql("CREATE OR REPLACE DATABASE bench CHARACTER SET utf8mb4", "")

    def sql(self, text: str, database: str = "bench") -> str:
        words = ["-d", database, "-c", text] if self.kind == "postgres" else [f"--execute={text}", *([database] if database else [])]
        done = subprocess.run(self.client + words, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return done.stdout.strip()

    def words(self) -> dict:
        dsn = f"postgresql://postgres@127.0.0.1:{self.port}/bench"
        return {"tcp": dsn, "sqlalchemy": dsn.replace("postgresql://", "postgresql+psycopg://"), "socket": self.socket}

    def same(self, rows: int) -> None:
        """Compares tables a and b by count and by sums over every column."""
        if self.kind == "postgres":
            look = ("SELECT count(*), sum(hashtextextended(t::text, 0)) FROM (SELECT id::bigint, lat::float8, lon::float8, version::bigint, "
                    "at::timestamp, changeset::bigint, uid::bigint, name::text FROM {}) t")
        else:
            look = ("SELECT count(*), sum(crc32(concat_ws('|', id, format(lat, 7), format(lon, 7), version, date_format(at, '%Y%m%d%H%i%s'), "
                    "changeset, uid, name))) FROM {}")
        ours, theirs = (self.sql(look.format(table)) for table in "ab")
        if ours != theirs or not ours.startswith(str(rows)):
            sys.exit(f"the tables differ: {ours} and {theirs}, expected {rows} rows")

    def clear(self) -> None:
        self.sql("DROP TABLE IF EXISTS a, b")


def same_in_sqlite(a: Path, b: Path, rows: int) -> None:
    """Moments may be texts of either form, which SQLite's own functions read."""
    names = ", ".join("strftime('%s', at)" if name == "at" else name for name in NAMES)
    db = sqlite3.connect(a)
    db.execute("ATTACH ? AS other", (str(b),))
    count, = db.execute("SELECT count(*) FROM t").fetchone()
    other, = db.execute("SELECT count(*) FROM other.t").fetchone()
    more, = db.execute(f"SELECT count(*) FROM (SELECT {names} FROM t EXCEPT SELECT {names} FROM other.t)").fetchone()
    if (count, other, more) != (rows, rows, 0):
        sys.exit(f"the tables differ: {count} and {other} rows of {rows}, {more} only in the first")


def worker(script: str) -> dict:
    os.sync()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def run(case: str, work: Path, rows: int, pairs: int, servers: dict) -> str:
    rows = int(rows * SHARE.get(case, 1))
    kind, is_tuples = case.split("-")[-1 if case.startswith("tuples") else 0], case.startswith("tuples")
    server = servers.get(kind)
    file = work / f"{rows}.parquet"
    if not file.exists():
        frame(work, file, rows)
    ours, theirs = work / "a.db", work / "b.db"
    words = {"db": str(theirs), "definition": DEFINITION, "each": "rows" if is_tuples else "frame.iter_rows()", **(server.words() if server else {})}
    more = f", columns={NAMES!r}" if is_tuples else ""
    more += ', primary_key="id"' if server or is_tuples else ""
    prelude = PRELUDE.format(file=str(file), rows=TUPLES if is_tuples else "")
    a_script = prelude + OURS.format(what="rows" if is_tuples else "frame", url=server.url if server else str(ours), table="a" if server else "t", more=more)
    b_script = prelude + RIVALS[case].format(**words)
    print(f"\n{case}: {rows:,} rows")
    runs = []
    for pair in range(pairs + 1):
        for path in (ours, theirs):
            path.unlink(missing_ok=True)
        if server:
            server.clear()
        a, b = worker(a_script), worker(b_script)
        server.same(rows) if server else same_in_sqlite(ours, theirs, rows)
        if pair == 0:
            continue  # The first pair warms caches.
        runs.append((a, b))
        print(f"  A {a['s']:6.2f} s  B {b['s']:6.2f} s   peak A {a['mb']:,.0f} MB  B {b['mb']:,.0f} MB")
    paired.keep("Python", case, runs)
    line = f"{case:<20} {paired.figures(runs, WANTED[case])}"
    print(f"  {line}")
    return line


def insert(work: Path, rows: int, runs: int) -> str:
    rows, done = 10 * rows, []
    for _ in range(runs):
        (work / "i.db").unlink(missing_ok=True)
        done.append(worker(INSERT.format(db=str(work / "i.db"), rows=rows)))
    micros = [one["s"] / rows * 1e6 for one in done]
    return (f"{'insert':<20} {statistics.median(micros):.2f} microseconds a row ({min(micros):.2f} to {max(micros):.2f}), wanted below 2; "
            f"{rows:,} rows took {max(one['mb'] for one in done):.0f} MB of memory")


def frame(work: Path, file: Path, rows: int) -> None:
    """The nodes table as Parquet, with types."""
    import polars

    tsv = work / "nodes.tsv"
    paired.nodes(tsv, rows)
    read = polars.read_csv(tsv, separator="\t", has_header=False, new_columns=NAMES, quote_char=None, try_parse_dates=True)
    read.with_columns(polars.col("at").cast(polars.Datetime("us"))).write_parquet(file)
    tsv.unlink()


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000, metavar="ROWS")
    parser.add_argument("pairs", type=int, nargs="?", default=3, metavar="PAIRS")
    parser.add_argument("cases", nargs="*", metavar="CASE", default=[*WANTED, "insert"])
    args = parser.parse_args()
    if unknown := set(args.cases) - {*WANTED, "insert"}:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    servers = {kind: Server(kind) for kind in ("postgres", "mariadb") if any(kind in case for case in args.cases)}
    lines = []
    with tempfile.TemporaryDirectory(prefix="inrush-bench-") as folder:
        for case in args.cases:
            work = Path(folder)
            lines.append(insert(work, args.rows, args.pairs) if case == "insert" else run(case, work, args.rows, args.pairs, servers))
    for server in servers.values():
        server.clear()
    print(f"\n{args.pairs} pairs each, medians, every table verified equal")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
