#!/usr/bin/env python3
"""inrush load of Parquet files against what people use, side by side: columns.py [ROWS] [PAIRS] [CASE ...]

Each case loads the same Parquet file (the nodes table, zstd, row groups of 122,880 rows) in interleaved runs A B A B: (A) inrush load, timed from
the start of the process to its end, (B) the rival, a Python program as people write it. After each pair both tables are compared row by row
as multisets, and a difference ends the bench: there is no time without a verified table.

Cases:
  sqlite-adbc    a new SQLite database, against ADBC's bulk ingestion
  sqlite-utils   the same, against sqlite-utils' insert_all of the file's rows (ROWS / 10 rows)
  sqlite-pandas  the same, against pandas' to_sql of the file (ROWS / 10 rows)
  postgres-adbc  a new table in PostgreSQL with its primary key, against ADBC's bulk ingestion and ALTER TABLE ADD PRIMARY KEY
  postgres-pgpq  the same, against pgpq's encoder and COPY

The rivals are those of PyPI (adbc-driver-sqlite, adbc-driver-postgresql, pgpq, sqlite-utils, pandas, psycopg, pyarrow) in the Python that runs this. The
server is that of INRUSH_TEST_SERVERS. INRUSH names the binary (default: target/dist/inrush).
"""

import argparse
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pairs as paired

NAMES = [f"column_{n}" for n in range(1, 9)]
WANTED = {"sqlite-adbc": 5, "sqlite-utils": 5, "sqlite-pandas": 5, "postgres-adbc": 1, "postgres-pgpq": 1}
READ = "import pyarrow.parquet as pq\nfile = pq.ParquetFile('{file}')\n"
SCRIPTS = {
    "sqlite-adbc": READ + '''
import adbc_driver_sqlite.dbapi as dbapi, pyarrow as pa
reader = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
with dbapi.connect("{db}") as connection:
    with connection.cursor() as cursor:
        cursor.adbc_ingest("t", reader)
    connection.commit()
''',
    "sqlite-utils": READ + '''
import sqlite_utils
def rows():
    for batch in file.iter_batches():
        yield from batch.to_pylist()
sqlite_utils.Database("{db}")["t"].insert_all(rows(), batch_size=10_000)
''',
    "sqlite-pandas": '''
import pandas, sqlite3
connection = sqlite3.connect("{db}")
pandas.read_parquet("{file}").to_sql("t", connection, index=False)
connection.commit()
''',
    "postgres-adbc": READ + '''
import adbc_driver_postgresql.dbapi as dbapi, pyarrow as pa
reader = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
with dbapi.connect("{tcp}") as connection:
    with connection.cursor() as cursor:
        cursor.adbc_ingest("b", reader)
        cursor.execute("ALTER TABLE b ADD PRIMARY KEY (column_1)")
    connection.commit()
''',
    "postgres-pgpq": READ + '''
import psycopg
from pgpq import ArrowToPostgresBinaryEncoder
encoder = ArrowToPostgresBinaryEncoder(file.schema_arrow)
with psycopg.connect("{tcp}") as connection, connection.cursor() as cursor:
    cursor.execute("CREATE TABLE b (column_1 bigint, column_2 float8, column_3 float8, column_4 bigint, column_5 timestamp, "
                   "column_6 bigint, column_7 bigint, column_8 text)")
    with cursor.copy("COPY b FROM STDIN WITH (FORMAT BINARY)") as copy:
        copy.write(encoder.write_header())
        for batch in file.iter_batches():
            copy.write(encoder.write_batch(batch))
        copy.write(encoder.finish())
    cursor.execute("ALTER TABLE b ADD PRIMARY KEY (column_1)")
''',
}


def parquet(tsv: Path, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    types = dict(zip(NAMES, [pa.int64(), pa.float64(), pa.float64(), pa.int64(), pa.timestamp("us"), pa.int64(), pa.int64(), pa.string()]))
    table = csv.read_csv(tsv, read_options=csv.ReadOptions(column_names=NAMES), parse_options=csv.ParseOptions(delimiter="\t", quote_char=False),
                         convert_options=csv.ConvertOptions(column_types=types))
    pq.write_table(table, path, row_group_size=122_880, compression="zstd")


class Postgres:
    def __init__(self, url: str):
        parts = urlsplit(url)
        self.host, self.port = parse_qs(parts.query)["host"][0], parts.port
        self.url = f"postgres://postgres@127.0.0.1:{parts.port}/bench?host={self.host}"
        self.tcp = f"postgresql://postgres@127.0.0.1:{parts.port}/bench"
        self.sql("DROP DATABASE IF EXISTS bench", database="postgres")
        self.sql("CREATE DATABASE bench", database="postgres")

    def sql(self, text: str, database: str = "bench") -> str:
        command = ["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-h", self.host, "-p", str(self.port), "-U", "postgres", "-d", database, "-c", text]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return done.stdout.strip()


def same_in_sqlite(a: Path, b: Path, rows: int) -> None:
    """Moments may be texts of either form, which SQLite's own functions read."""
    names = ", ".join("strftime('%s', column_5)" if name == "column_5" else name for name in NAMES)
    db = sqlite3.connect(a)
    db.execute("ATTACH ? AS other", (str(b),))
    count, = db.execute("SELECT count(*) FROM t").fetchone()
    other, = db.execute("SELECT count(*) FROM other.t").fetchone()
    more, = db.execute(f"SELECT count(*) FROM (SELECT {names} FROM t EXCEPT SELECT {names} FROM other.t)").fetchone()
    if (count, other, more) != (rows, rows, 0):
        sys.exit(f"the tables differ: {count} and {other} rows of {rows}, {more} only in the first")


def same_in_postgres(server: Postgres, rows: int) -> None:
    look = ("SELECT count(*), sum(hashtextextended(t::text, 0)) FROM (SELECT column_1::bigint, column_2::float8, column_3::float8, column_4::bigint, "
            "column_5::timestamp, column_6::bigint, column_7::bigint, column_8::text FROM {}) t")
    ours, theirs = (server.sql(look.format(table)) for table in "ab")
    if ours != theirs or not ours.startswith(f"{rows}|"):
        sys.exit(f"the tables differ: {ours} and {theirs}, expected {rows} rows")


def run(case: str, inrush: str, work: Path, rows: int, pairs: int, server: Postgres | None) -> str:
    few = case in ("sqlite-utils", "sqlite-pandas")
    file, rows = (work / "few.parquet", rows // 10) if few else (work / "nodes.parquet", rows)
    ours, theirs = work / "a.db", work / "b.db"
    to_server = case.startswith("postgres")
    words = {"file": file, "db": theirs, "tcp": server.tcp if server else ""}
    script = work / f"{case}.script.py"
    script.write_text(SCRIPTS[case].format(**words))
    load = [inrush, "load", str(file), server.url if to_server else str(ours), "--table", "a" if to_server else "t", "-q"]
    load += ["--primary-key", "column_1"] if to_server else []
    print(f"\n{case}: {file.name}, {rows:,} rows, {file.stat().st_size:,} bytes\n  A      {' '.join(load[1:])}")
    runs = []
    for pair in range(pairs + 1):
        for path in (ours, theirs):
            path.unlink(missing_ok=True)
        if to_server:
            server.sql("DROP TABLE IF EXISTS a, b")
        os.sync()
        a = paired.timed(load)
        os.sync()
        b = paired.timed([sys.executable, str(script)])
        if to_server:
            same_in_postgres(server, rows)
        else:
            same_in_sqlite(ours, theirs, rows)
        if pair == 0:
            continue  # The first pair warms caches.
        runs.append((a, b))
        print(f"  A {a['s']:6.2f} s  B {b['s']:6.2f} s   CPU A {a['cpu']:5.2f} s  B {b['cpu']:5.2f} s   peak A {a['mb']:3.0f} MB")
    line = f"{case:<14} {paired.figures(runs, WANTED[case])}   {paired.peak(runs)}"
    print(f"  {line}")
    return line


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000, metavar="ROWS")
    parser.add_argument("pairs", type=int, nargs="?", default=5, metavar="PAIRS")
    parser.add_argument("cases", nargs="*", metavar="CASE", default=list(WANTED))
    args = parser.parse_args()
    if unknown := set(args.cases) - set(WANTED):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    urls = [entry.split("=", 1)[1] for entry in os.environ.get("INRUSH_TEST_SERVERS", "").split() if "=postgres" in entry]
    if any(case.startswith("postgres") for case in args.cases) and not urls:
        sys.exit("INRUSH_TEST_SERVERS names no PostgreSQL; `make bench-columns` starts one")
    server = Postgres(urls[0]) if urls else None
    with tempfile.TemporaryDirectory(prefix="inrush-bench-") as folder:
        work = Path(folder)
        for name, rows in (("nodes", args.rows), ("few", args.rows // 10)):
            paired.nodes(work / f"{name}.tsv", rows)
            parquet(work / f"{name}.tsv", work / f"{name}.parquet")
        lines = [run(case, paired.binary(), work, args.rows, args.pairs, server) for case in args.cases]
    if server:
        server.sql("DROP DATABASE bench WITH (FORCE)", database="postgres")
    print(f"\n{args.pairs} pairs each, medians, every table verified equal")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
