#!/usr/bin/env python3
"""inrush load into DuckDB against DuckDB's own readers, side by side: duckdb.py [ROWS] [PAIRS] [CASE ...]

Each case loads the same generated file in interleaved runs A B A B: (A) inrush load, durable and verified as always, timed from the
start of the process to its end; (B) DuckDB's own statement through the same library, in a new database of the same storage version,
closed and synced. The statement has the columns' types and the dialect in it, so that it looks for neither. Each run starts with the
input in memory and nothing left to be written. After each pair both tables are compared row by row as multisets (EXCEPT ALL, both ways),
and a difference ends the bench: there is no time without a verified table.

Cases:
  new       the nodes table, tab-separated, into a new database, against CREATE TABLE AS FROM read_csv
  keyed     the same with its primary key, against INSERT FROM read_csv and ALTER TABLE ADD PRIMARY KEY
  quoted    CSV whose text fields are all quoted, hard ones among them, against read_csv
  existing  an empty table in an existing database, against INSERT FROM read_csv
  parquet   the nodes table from a Parquet file, against CREATE TABLE AS FROM read_parquet
  appender, prepared
            the nodes table by these strategies, against read_csv (ROWS / 10 rows for prepared)

The library is INRUSH_DUCKDB_LIB, or what `scripts/servers.sh duckdb-1.5` has fetched; INRUSH names the binary (default:
target/dist/inrush).
"""

import argparse
import ctypes
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pairs as paired

TYPES = ["BIGINT", "DOUBLE", "DOUBLE", "BIGINT", "TIMESTAMP", "BIGINT", "BIGINT", "VARCHAR"]
NAMES = [f"column_{n}" for n in range(1, 9)]
STORAGE = "v1.0.0"


def library() -> str:
    path = os.environ.get("INRUSH_DUCKDB_LIB") or str(paired.ROOT / "target/servers/duckdb-1.5/libduckdb.so")
    if not os.path.exists(path):
        sys.exit(f"{path} is not there; scripts/servers.sh duckdb-1.5 fetches it, or name it in INRUSH_DUCKDB_LIB")
    return os.path.abspath(path)


class Result(ctypes.Structure):
    _fields_ = [("counts", ctypes.c_uint64 * 3), ("pointers", ctypes.c_void_p * 3)]


class Database:
    """As much of the library as a statement needs."""

    def __init__(self, path: str):
        self.duckdb = ctypes.CDLL(library())
        self.duckdb.duckdb_result_error.restype = ctypes.c_char_p
        self.duckdb.duckdb_value_varchar.restype = ctypes.c_void_p
        config, self.database, self.connection = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.duckdb.duckdb_create_config(ctypes.byref(config))
        if not os.path.exists(path):
            self.duckdb.duckdb_set_config(config, b"storage_compatibility_version", STORAGE.encode())
        error = ctypes.c_char_p()
        if self.duckdb.duckdb_open_ext(path.encode(), ctypes.byref(self.database), config, ctypes.byref(error)):
            sys.exit(f"{path}: {error.value.decode()}")
        self.duckdb.duckdb_connect(self.database, ctypes.byref(self.connection))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.duckdb.duckdb_disconnect(ctypes.byref(self.connection))
        self.duckdb.duckdb_close(ctypes.byref(self.database))

    def sql(self, sql: str) -> str:
        """Runs a statement; the first value of its answer."""
        result = Result()
        if self.duckdb.duckdb_query(self.connection, sql.encode(), ctypes.byref(result)):
            sys.exit(f"{self.duckdb.duckdb_result_error(ctypes.byref(result)).decode()}: {sql}")
        value = self.duckdb.duckdb_value_varchar(ctypes.byref(result), ctypes.c_uint64(0), ctypes.c_uint64(0))
        return ctypes.string_at(value).decode() if value else ""


@dataclass
class Case:
    name: str
    about: str
    wanted: float
    input: str
    rival: str
    options: list[str]
    rows: int = 0
    before: str = ""


def read_csv(path: str, delimiter: str, header: bool, names: list[str]) -> str:
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in zip(names, TYPES, strict=True))
    quote = "''" if delimiter == "\t" else "'\"'"
    return (f"read_csv('{path}', auto_detect = false, delim = '{delimiter}', quote = {quote}, escape = {quote}, header = {header}, "
            f"allow_quoted_nulls = false, columns = {{{columns}}})")


def cases(rows: int) -> list[Case]:
    table = ", ".join(f"{name} {kind}" for name, kind in zip(NAMES, TYPES, strict=True))
    tsv = read_csv("nodes.tsv", "\t", False, NAMES)
    load = ["nodes.tsv", "--header", "no", "--table", "t"]
    few = max(rows // 10, 1)
    return [
        Case("new", "a new database, against read_csv", 1 / 1.1, "nodes.tsv", f"CREATE TABLE t AS FROM {tsv}", load),
        Case("keyed", "a new database with its key, against read_csv and ADD PRIMARY KEY", 1 / 1.1, "nodes.tsv",
             f"CREATE TABLE t ({table}); INSERT INTO t FROM {tsv}; ALTER TABLE t ADD PRIMARY KEY (column_1)",
             [*load, "--primary-key", "column_1"]),
        Case("quoted", "CSV, all texts quoted, against read_csv", 1 / 1.1, "quoted.csv",
             "CREATE TABLE t AS FROM " + read_csv("quoted.csv", ",", True, quoted_names()), ["quoted.csv", "--table", "t"]),
        Case("existing", "an empty table that is there, against read_csv", 1 / 1.1, "nodes.tsv", f"INSERT INTO t FROM {tsv}", load,
             before=f"CREATE TABLE t ({table})"),
        Case("parquet", "a new database from Parquet, against read_parquet", 1 / 1.1, "nodes.parquet",
             "CREATE TABLE t AS FROM read_parquet('nodes.parquet')", ["nodes.parquet", "--table", "t"]),
        Case("appender", "the appender, against read_csv", 1 / 2, "nodes.tsv", f"CREATE TABLE t AS FROM {tsv}",
             [*load, "--strategy", "appender"]),
        Case("prepared", "prepared statements, against read_csv", 1 / 100, "few.tsv",
             f"CREATE TABLE t AS FROM {tsv}".replace("nodes.tsv", "few.tsv"),
             ["few.tsv", *load[1:], "--strategy", "prepared"], rows=few),
    ]


def quoted_names() -> list[str]:
    return ["id", "lat", "lon", "version", "timestamp", "changeset", "uid", "user"]


def generate(case: Case, rows: int, work: Path) -> None:
    path = work / case.input
    if path.exists():
        return
    if case.input == "nodes.parquet":
        generate(cases(rows)[0], rows, work)
        os.chdir(work)
        with Database(":memory:") as database:
            database.sql(f"COPY (FROM {read_csv('nodes.tsv', chr(9), False, NAMES)}) TO 'nodes.parquet' (COMPRESSION zstd)")
        return
    paired.nodes(path, case.rows or rows, *["--quoted"] * (case.input == "quoted.csv"))


def verify(work: Path, rows: int) -> None:
    with Database(str(work / "b.duckdb")) as database:
        database.sql(f"ATTACH '{work / 'a.duckdb'}' AS a (READ_ONLY)")
        counts = database.sql("SELECT (SELECT count(*) FROM a.t) || ' ' || (SELECT count(*) FROM t)")
        differing = database.sql("SELECT count(*) FROM ((FROM a.t EXCEPT ALL FROM t) UNION ALL (FROM t EXCEPT ALL FROM a.t))")
    if counts != f"{rows} {rows}" or differing != "0":
        sys.exit(f"the tables differ: rows by inrush, by DuckDB = {counts}, expected {rows} of each; differing: {differing}")


def run(case: Case, rows: int, pairs: int, work: Path) -> None:
    rows = case.rows or rows
    generate(case, rows, work)
    ours = [paired.binary(), "load", *case.options[:1], "a.duckdb", *case.options[1:], "-q"]
    theirs = [sys.executable, "-S", __file__, "--statement", case.rival, "b.duckdb"]
    runs = []
    for turn in range(pairs + 1):
        for name in ("a.duckdb", "b.duckdb"):
            (work / name).unlink(missing_ok=True)
            if case.before:
                with Database(str(work / name)) as database:
                    database.sql(case.before)
        env = {"INRUSH_DUCKDB_LIB": library()}
        pair = []
        for command in (ours, theirs):
            os.sync()
            pair.append(paired.timed(command, work, env=env))
        verify(work, rows)
        # The first pair is for the caches.
        if turn > 0:
            runs.append((pair[0], pair[1]))
    paired.keep("DuckDB", case.name, runs)
    cpu = " ".join(f"{run['cpu']:.1f}" for run in runs[-1])
    print(f"{case.name:9} {paired.figures(runs, case.wanted)}   CPU s {cpu}   {paired.peak(runs)}   ({case.about})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="?", type=int, default=5_000_000)
    parser.add_argument("pairs", nargs="?", type=int, default=5)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--statement", help=argparse.SUPPRESS)
    # What the rival's own process is given: a statement and a database.
    if sys.argv[1:2] == ["--statement"]:
        with Database(sys.argv[3]) as database:
            database.sql(sys.argv[2])
            database.sql("CHECKPOINT")
        return
    args = parser.parse_args()
    known = [case.name for case in cases(args.rows)]
    if unknown := set(args.cases) - set(known):
        sys.exit(f"no case is called {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(args.rows):
            if not args.cases or case.name in args.cases:
                run(case, args.rows, args.pairs, Path(folder))


if __name__ == "__main__":
    main()
