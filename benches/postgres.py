#!/usr/bin/env python3
"""inrush load into PostgreSQL against what people use, side by side: postgres.py [ROWS] [PAIRS] [CASE ...]

Each case loads the same generated file (the nodes table, tab-separated) into a logged table with a primary key, in interleaved
runs A B A B: (A) inrush load, timed from the start of the process to its end, (B) the rival. Both load into the same server with
the same durability, each run right after a checkpoint. After each pair both tables are compared row by row as multisets (by
the count and a sum of hashes of the rows' text), and a difference ends the bench: there is no time without a verified table.

Cases:
  new        a table that the load makes, against CREATE TABLE with its primary key and psql \\copy of the same file
  new-after  the same, against psql \\copy FREEZE in one transaction with the primary key added afterwards: what experts do by hand
  existing   an empty table that is there, against psql \\copy of the same file
  server     the same, against the server's own COPY FROM of a ready-made binary file
  dirty      a file with 3 % bad rows of four kinds, rejected, against inrush load of the clean file (B / A)
  repeats    a file of whose rows 0.3 % repeat a key, rejected, against the same
  pgloader, duckdb, adbc, pgpq, csvs_convert
             against tools that people install for this (Debian, PyPI): only when named, where they are installed; ROWS / 10 rows
             for pgloader

The server is that of INRUSH_TEST_SERVERS, which `make bench-postgres` starts. CPU seconds are the client's own and what the
server's processes used meanwhile.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pairs as paired

COLUMNS = ("column_1 bigint {} PRIMARY KEY, column_2 double precision, column_3 double precision, column_4 bigint, "
           "column_5 timestamp, column_6 bigint, column_7 bigint, column_8 text")
TABLE = f"CREATE TABLE {{}} ({COLUMNS.format('')})"
UNKEYED = f"CREATE TABLE {{}} ({COLUMNS.format('').replace(' PRIMARY KEY', '')})"
WANTED = {"new": 1.6, "new-after": 1.0, "existing": 1.2, "server": 1 / 1.15, "dirty": 1 / 3, "repeats": 1 / 3,
          "pgloader": 1, "duckdb": 1, "adbc": 1, "pgpq": 1, "csvs_convert": 1}
PEERS = ("pgloader", "duckdb", "adbc", "pgpq", "csvs_convert")


class Server:
    def __init__(self, name: str, url: str):
        self.name = name
        parts = urlsplit(url)
        self.host, self.port = parse_qs(parts.query)["host"][0], parts.port
        self.url = f"postgres://postgres@127.0.0.1:{parts.port}/bench?host={self.host}"
        self.tcp = f"postgresql://postgres@127.0.0.1:{parts.port}/bench"
        self.sql("DROP DATABASE IF EXISTS bench", database="postgres")
        self.sql("CREATE DATABASE bench", database="postgres")
        self.pid = int(Path(self.sql("SHOW data_directory"), "postmaster.pid").read_text().split("\n")[0])

    def psql(self, *words: str, database: str = "bench") -> list[str]:
        return ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", self.host, "-p", str(self.port), "-U", "postgres", "-d", database,
                *words]

    def sql(self, *texts: str, database: str = "bench") -> str:
        words = [word for text in texts for word in ("-c", text)]
        done = subprocess.run(self.psql("-At", *words, database=database), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{self.name}: {done.stderr}")
        return done.stdout.strip()

    def cpu(self) -> float:
        """Of the postmaster, its living children, and those that have ended."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        total = paired.cpu(self.pid)
        for child in children:
            try:
                total += paired.cpu(int(child))
            except FileNotFoundError:
                pass
        return total


def timed(server: Server, command: list[str], env: dict | None = None, codes: tuple[int, ...] = (0,)) -> dict:
    server.sql("CHECKPOINT")
    os.sync()
    return paired.timed(command, env=env, server_cpu=server.cpu, codes=codes)


def verify(server: Server, rows: int) -> None:
    """A rival may have other types in its table: both are read as those of TABLE."""
    names = "column_1::bigint, column_2::float8, column_3::float8, column_4::bigint, column_5::timestamp, column_6::bigint, column_7::bigint, column_8::text"
    look = "SELECT count(*), sum(hashtextextended(t::text, 0)) FROM (SELECT {} FROM {}) t"
    ours, theirs = (server.sql(look.format(names, table)) for table in "ab")
    if ours != theirs or not ours.startswith(f"{rows}|"):
        sys.exit(f"the tables differ: {ours} and {theirs}, expected {rows} rows")


DUCKDB = '''
import duckdb
db = duckdb.connect()
db.execute("INSTALL postgres; LOAD postgres; ATTACH '{url}' AS p (TYPE postgres)")
db.execute("INSERT INTO p.b SELECT * FROM read_csv('{file}', delim='\\t', header=false, quote='', escape='', columns={columns})")
'''
DUCKDB_COLUMNS = ("{'column_1': 'BIGINT', 'column_2': 'DOUBLE', 'column_3': 'DOUBLE', 'column_4': 'BIGINT', 'column_5': 'TIMESTAMP', "
                  "'column_6': 'BIGINT', 'column_7': 'BIGINT', 'column_8': 'VARCHAR'}")
READ = '''
import pyarrow as pa, pyarrow.csv as csv
types = {{"column_1": pa.int64(), "column_2": pa.float64(), "column_3": pa.float64(), "column_4": pa.int64(),
         "column_5": pa.timestamp("us"), "column_6": pa.int64(), "column_7": pa.int64(), "column_8": pa.string()}}
reader = csv.open_csv("{file}", read_options=csv.ReadOptions(column_names=list(types)),
                      parse_options=csv.ParseOptions(delimiter="\\t", quote_char=False),
                      convert_options=csv.ConvertOptions(column_types=types))
'''
ADBC = READ + '''
import adbc_driver_postgresql.dbapi as dbapi
with dbapi.connect("{tcp}") as connection:
    with connection.cursor() as cursor:
        cursor.adbc_ingest("b", reader, mode="append")
    connection.commit()
'''
PGPQ = READ + '''
import psycopg
from pgpq import ArrowToPostgresBinaryEncoder
encoder = ArrowToPostgresBinaryEncoder(reader.schema)
with psycopg.connect("{tcp}") as connection, connection.cursor() as cursor:
    with cursor.copy("COPY b FROM STDIN WITH (FORMAT BINARY)") as copy:
        copy.write(encoder.write_header())
        for batch in reader:
            copy.write(encoder.write_batch(batch))
        copy.write(encoder.finish())
'''
CSVS = '''
from csvs_convert import csvs_to_postgres
csvs_to_postgres("{tcp}", ["{csv}"])
'''
PGLOADER = '''
LOAD CSV FROM '{file}' (column_1, column_2, column_3, column_4, column_5, column_6, column_7, column_8)
INTO {tcp}?tablename=b (column_1, column_2, column_3, column_4, column_5, column_6, column_7, column_8)
WITH fields terminated by '\\t', fields not enclosed, batch rows = 25000;
'''


def rival(case: str, server: Server, work: Path, file: Path, load: list[str]) -> list[str]:
    """The rival's command."""
    words = {"file": file, "url": f"host={server.host} port={server.port} user=postgres dbname=bench", "tcp": server.tcp,
             "csv": work / "b.csv", "columns": DUCKDB_COLUMNS}
    if case in ("dirty", "repeats"):
        return [*load[:2], str(work / "nodes.tsv"), *load[3:]]
    if case == "server":
        return server.psql("-c", f"COPY b FROM '{work / 'nodes.bin'}' (FORMAT binary)")
    if case == "new-after":
        return server.psql("-c", "BEGIN", "-c", UNKEYED.format("b"), "-c", f"\\copy b from '{file}' with (freeze)",
                           "-c", "ALTER TABLE b ADD PRIMARY KEY (column_1)", "-c", "COMMIT")
    if case == "pgloader":
        (work / "b.load").write_text(PGLOADER.format(**words))
        return ["pgloader", "--quiet", "--on-error-stop", str(work / "b.load")]
    if case in PEERS:
        script = {"duckdb": DUCKDB, "adbc": ADBC, "pgpq": PGPQ, "csvs_convert": CSVS}[case]
        (work / f"{case}.script.py").write_text(script.format(**words))
        return [sys.executable, str(work / f"{case}.script.py")]
    return server.psql("-c", f"\\copy b from '{file}'")


def run(case: str, server: Server, inrush: str, rows: int, pairs: int, extra: list[str], work: Path) -> str:
    rows = rows // 10 if case == "pgloader" else rows
    file = work / {"dirty": "dirty.tsv", "repeats": "repeats.tsv", "pgloader": "few.tsv"}.get(case, "nodes.tsv")
    against_itself = case in ("dirty", "repeats")
    makes = case.startswith("new") or against_itself
    load = [inrush, "load", str(file), server.url, "--table", "a", "--header", "no", "-q", *extra]
    load += ["--primary-key", "column_1"] if makes else []
    load += ["--max-rejects", "5%", "--rejects", str(work / "rejects.tsv"), "--type", "column_6=integer"] if against_itself else []
    command = rival(case, server, work, file, load)
    print(f"\n{server.name} {case}: {file.name}, {rows:,} rows, {file.stat().st_size:,} bytes")
    print(f"  A      inrush {' '.join(load[1:])}")
    print(f"  B      {' '.join(command)}")
    runs = []
    for pair in range(pairs + 1):
        server.sql("DROP TABLE IF EXISTS a", "DROP TABLE IF EXISTS b", *([] if makes else [TABLE.format("a")]))
        a = timed(server, load, codes=(3,) if against_itself else (0,))
        if against_itself:
            server.sql("ALTER TABLE a RENAME TO dirty", "ALTER INDEX a_pkey RENAME TO dirty_pkey")
        elif case not in ("new-after", "csvs_convert"):
            server.sql(TABLE.format("b"))
        b = timed(server, command)
        if against_itself:
            bad = int(server.sql("SELECT (SELECT count(*) FROM a) - (SELECT count(*) FROM dirty)"))
            same = server.sql("SELECT count(*) FROM (TABLE dirty EXCEPT TABLE a) x")
            if same != "0" or bad != rows // (33 if case == "dirty" else 333):
                sys.exit(f"of {rows} rows {bad} are missing, and {same} are not those of the clean file")
            server.sql("DROP TABLE dirty")
        else:
            verify(server, rows)
        if pair == 0:
            continue  # The first pair warms caches, and the server's own files up to the size that they keep.
        runs.append((a, b))
        print(f"  A {a['s']:6.2f} s  B {b['s']:6.2f} s   CPU client A {a['cpu']:5.2f} s  server {a['server']:5.2f} s"
              f"   client B {b['cpu']:5.2f} s  server {b['server']:5.2f} s   peak A {a['mb']:3.0f} MB")
    paired.keep(server.name, case, runs)
    line = f"{server.name:<12} {case:<12} {paired.figures(runs, round(WANTED[case], 2))}   {paired.share(runs)}   {paired.peak(runs)}"
    print(f"  {line}")
    return line


def spoil(source: Path, path: Path, each: int) -> None:
    """The file with every so-many-th row bad: a field too many, no number, a key that was there, bytes that are no text."""
    rng = random.Random(1)
    with open(source, "rb") as lines, open(path, "wb") as out:
        first = b""
        for number, line in enumerate(lines):
            first = first or line.split(b"\t")[0]
            if number % each == each - 1:
                fields = line.rstrip(b"\n").split(b"\t")
                kind = rng.randrange(4) if each < 100 else 2
                if kind == 0:
                    fields.append(b"more")
                elif kind == 1:
                    fields[5] = b"none"
                elif kind == 2:
                    fields[0] = first
                else:
                    fields[7] = b"\xff\xfe"
                line = b"\t".join(fields) + b"\n"
            out.write(line)


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000, metavar="ROWS")
    parser.add_argument("pairs", type=int, nargs="?", default=5, metavar="PAIRS")
    parser.add_argument("cases", nargs="*", metavar="CASE", default=[case for case in WANTED if case not in PEERS])
    parser.add_argument("--option", action="append", default=[], metavar="WORD", help="handed on to inrush load")
    args = parser.parse_args()
    if unknown := set(args.cases) - set(WANTED):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    servers = [entry.split("=", 1) for entry in os.environ.get("INRUSH_TEST_SERVERS", "").split() if "=postgres" in entry]
    if not servers:
        sys.exit("INRUSH_TEST_SERVERS names no PostgreSQL; `make bench-postgres` starts one")
    for tool in ["psql", *(case for case in args.cases if case == "pgloader")]:
        shutil.which(tool) or sys.exit(f"{tool} is not there")
    inrush = paired.binary()
    lines = []
    with tempfile.TemporaryDirectory(prefix="inrush-bench-") as folder:
        work = Path(folder)
        # The server reads a file in it.
        work.chmod(0o755)
        rows = args.rows // 1000 * 1000
        paired.nodes(work / "nodes.tsv", rows)
        spoil(work / "nodes.tsv", work / "repeats.tsv", 1000 // 3)
        spoil(work / "nodes.tsv", work / "dirty.tsv", 100 // 3)
        paired.as_csv(work / "nodes.tsv", work / "b.csv", rows)
        with open(work / "nodes.tsv", "rb") as source, open(work / "few.tsv", "wb") as out:
            out.writelines(source.readline() for _ in range(rows // 10))
        for name, url in servers:
            server = Server(name, url)
            server.sql(UNKEYED.format("ready"), f"\\copy ready from '{work / 'nodes.tsv'}'",
                       f"\\copy ready to '{work / 'nodes.bin'}' (format binary)", "DROP TABLE ready")
            lines += [run(case, server, inrush, rows, args.pairs, args.option, work) for case in args.cases]
            server.sql("DROP DATABASE bench WITH (FORCE)", database="postgres")
    print(f"\n{args.pairs} pairs each, medians, every table verified equal")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
