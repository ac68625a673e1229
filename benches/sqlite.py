#!/usr/bin/env python3
"""inrush load into SQLite against what people use, side by side: sqlite.py [ROWS] [PAIRS] [CASE ...]

Each case loads the same generated file in interleaved runs A B A B: (A) inrush load, durable as always, timed from the start
of the process to its end; (B) the rival, with its journal and all syncing switched off unless the case says otherwise.
Each timed run comes right after an untimed one of the same command, whose result is removed: the input is in memory then, and
so is what a virtual machine's host takes away from idle guests. What was left to be written is flushed first. After each
pair both tables are compared value by value, with types, and a difference ends the bench: there is no time without a
verified table.

Cases:
  new        a new database, the nodes table with its primary key, against sqlite3 .import
  cp         the same, against cp of the finished database
  cp-sync    the same, against cp and a sync of the copy: as durable as the load is
  prepared   the same, against a prepared INSERT in one transaction with everything unsafe switched on (benches/prepared.rs)
  existing   an empty typed table in an existing database, against sqlite3 .import
  durable    the same, both with a rollback journal and synchronous=FULL
  indexed    a new database with two secondary indexes, against sqlite3 .import and CREATE INDEX
  wide       rows of one text of 1 kB
  quoted     CSV whose text fields are all quoted, hard ones among them
  columns    60 columns of one to three digits
  nulls      20 columns, all but the first always empty

sqlite3 reads tab-separated files in ascii mode: that is its fastest reader and takes quotes as they are; its tabs mode would
unquote a field that begins with a quote. It has no NULL: its empty texts are compared as NULLs.

INRUSH names the binary (default: target/dist/inrush), SQLITE3 the shell, TMPDIR the place for the files.
"""

import argparse
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pairs as paired

NODES = ["INTEGER PRIMARY KEY", "REAL", "REAL", "INTEGER", "TIMESTAMP", "INTEGER", "INTEGER", "TEXT"]
UNSAFE = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;\n"
ASCII = '.mode ascii\n.separator "\\t" "\\n"\n'


@dataclass
class Case:
    """One comparison. `rival` is a script for the sqlite3 shell, or a command."""

    name: str
    about: str
    wanted: float
    input: str
    types: list[str]
    options: list[str]
    rival: str | list[str] = ""
    rows: int = 0
    existing: bool = False
    settings: str = UNSAFE
    reader: str = ASCII
    after: str = ""
    indexes: list[str] = field(default_factory=list)
    more_is_worse: bool = False


def columns(types: list[str]) -> str:
    return ", ".join(f"column_{n} {kind}" for n, kind in enumerate(types, 1))


def cases(rows: int, target: Path) -> list[Case]:
    nodes = ["nodes.tsv", "--header", "no", "--table", "t"]
    keyed = [*nodes, "--primary-key", "column_1"]
    indexes = ["--index", "column_6", "--index", "column_7"]
    create = "CREATE INDEX t_6 ON t(column_6); CREATE INDEX t_7 ON t(column_7);\n"
    csv = ".mode csv\n"
    few = max(rows // 10, 1)
    return [
        Case("new", "a new database, against .import without journal and sync", 12, "nodes.tsv", NODES, keyed),
        Case("cp", "a new database, against cp of the finished file (A / B)", 3.5, "nodes.tsv", NODES, keyed,
             rival=["cp", "a.db", "b.db"], more_is_worse=True),
        Case("cp-sync", "a new database, against cp of the finished file and a sync of the copy (A / B)", 3.5, "nodes.tsv",
             NODES, keyed, rival=["sh", "-c", "cp a.db b.db && sync b.db"], more_is_worse=True),
        Case("prepared", "a new database, against prepared statements, one transaction, all unsafe", 1, "nodes.tsv",
             NODES, keyed, rival=[str(target / "dist/examples/prepared"), "nodes.tsv", "b.db"]),
        Case("existing", "an empty table in an existing database, against .import without journal and sync", 4,
             "nodes.tsv", NODES, [*nodes], existing=True),
        Case("durable", "the same, .import with rollback journal and synchronous=FULL", 4, "nodes.tsv", NODES, [*nodes],
             existing=True, settings="PRAGMA synchronous = FULL;\n"),
        Case("indexed", "a new database with two indexes, against .import and CREATE INDEX", 3, "nodes.tsv", NODES,
             [*keyed, *indexes], after=create, indexes=["column_6", "column_7"]),
        Case("wide", "one text of 1 kB", 4, "wide.tsv", ["TEXT"],
             ["wide.tsv", "--header", "no", "--table", "t", "--type", "column_1=text"], rows=few),
        Case("quoted", "CSV, all texts quoted", 4, "quoted.csv", NODES, ["quoted.csv", "--table", "t", "--primary-key", "id"],
             reader=csv),
        Case("columns", "60 narrow columns", 4, "columns.tsv", ["INTEGER"] * 60,
             ["columns.tsv", "--header", "no", "--table", "t", "--format", "tsv"], rows=few),
        Case("nulls", "20 columns that are empty except for the first", 4, "nulls.tsv", ["INTEGER"] + ["TEXT"] * 19,
             ["nulls.tsv", "--header", "no", "--table", "t", "--format", "tsv", "--type", "column_1=integer"], rows=max(rows // 2, 1)),
    ]


def generate(name: str, rows: int, work: Path) -> None:
    path = work / name
    if path.exists():
        return
    if name in ("nodes.tsv", "quoted.csv"):
        paired.nodes(path, rows, *["--quoted"] * (name == "quoted.csv"))
        return
    with open(path, "wb") as out:
        rng = random.Random(1)
        if name == "wide.tsv":
            letters = "abcdefghijklmnopqrstuvwxyz      "
            text = "".join(rng.choices(letters, k=1 << 20)).encode()
            for _ in range(rows):
                at = rng.randrange(len(text) - 1000)
                out.write(b"x" + text[at:at + 999] + b"\n")
        elif name == "columns.tsv":
            lines = ["\t".join(str(rng.randrange(1000)) for _ in range(60)) + "\n" for _ in range(min(rows, 5000))]
            for row in range(rows):
                out.write(lines[row % len(lines)].encode())
        else:
            for row in range(rows):
                out.write(b"%d" % row + b"\t" * 19 + b"\n")


def shell(sqlite: str, *words: str, script: str | None = None) -> str:
    """Runs the sqlite3 shell without the user's own settings; what it complains about is the end."""
    command = [sqlite, "-batch", "-bail", "-init", os.devnull, *words]
    done = subprocess.run(command, input=script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0 or done.stderr.strip():
        sys.exit(f"sqlite3 failed with exit code {done.returncode}:\n{done.stderr or done.stdout}")
    return done.stdout


def timed(command: list[str], work: Path, script: str = "") -> dict:
    os.sync()
    return paired.timed(command, work, script)


def names(sqlite: str, database: str) -> list[str]:
    return shell(sqlite, database, "SELECT name FROM pragma_table_info('t')").split()


def verify(sqlite: str, case: Case, rows: int) -> None:
    """Both tables hold the same rows: every value equal, of the same type, under the same rowid.

    Doubles are compared by their 15 digits, which is how SQLite writes them: its own conversion of text misses the nearest
    double by one in about 1 of 2,000 of these coordinates, where inrush's is correctly rounded, as Python's.
    """
    same = []
    for ours, theirs, kind in zip(names(sqlite, "a.db"), names(sqlite, "b.db"), case.types, strict=True):
        a, b = f"a.{ours}", f"nullif(b.{theirs}, '')"
        if kind == "REAL":
            same.append(f"({a} || '' IS {b} || '' AND typeof({a}) = typeof({b}))")
        elif case.name == "quoted" and kind == "TEXT":
            # An empty quoted text is a text to inrush, and so it is to sqlite3.
            same.append(f"a.{ours} IS b.{theirs}")
        else:
            same.append(f"({a} IS {b} AND typeof({a}) = typeof({b}))")
    counts = shell(sqlite, "a.db", script=f"""ATTACH 'b.db' AS other;
        SELECT (SELECT count(*) FROM main.t), (SELECT count(*) FROM other.t),
               (SELECT count(*) FROM main.t a JOIN other.t b ON a.rowid = b.rowid WHERE {' AND '.join(same)});""").strip()
    if counts != f"{rows}|{rows}|{rows}":
        sys.exit(f"the tables differ: rows by inrush | by the rival | equal = {counts}, expected {rows} of each")
    check = shell(sqlite, "a.db", "PRAGMA integrity_check").strip()
    if check != "ok":
        sys.exit(f"the database that inrush wrote is not sound: {check}")
    for column in case.indexes:
        both = [shell(sqlite, f"{db}.db", f"SELECT count(*), min({column}), max({column}) FROM t WHERE {column} BETWEEN 2000 AND 900000")
                for db in "ab"]
        if both[0] != both[1]:
            sys.exit(f"the indexes on {column} differ: {both}")


def machine(work: Path) -> str:
    model = platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if os.path.exists("/proc/cpuinfo") else []:
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores, {model}, {platform.system()} {platform.release()}, files on {filesystem(work)}"


def filesystem(work: Path) -> str:
    """The type of the file system: on tmpfs `synchronous=FULL` costs nothing, so it has to be told."""
    best, kind = "", "an unknown file system"
    for line in Path("/proc/mounts").read_text().splitlines() if os.path.exists("/proc/mounts") else []:
        _, point, name, *_ = line.split()
        if (f"{work}/".startswith(point.rstrip("/") + "/")) and len(point) >= len(best):
            best, kind = point, name
    return kind


def run(case: Case, inrush: str, sqlite: str, rows: int, pairs: int, extra: list[str], work: Path) -> str:
    rows = case.rows or rows
    generate(case.input, rows, work)
    table = f"CREATE TABLE t({columns(case.types)});\n"
    load = [inrush, "load", *case.options, *extra, "a.db"]
    script = ""
    rival = case.rival
    if not rival:
        skip = "--skip 1 " if case.input.endswith(".csv") else ""
        script = case.settings + case.reader + ("" if case.existing else table) + f".import {skip}{case.input} t\n" + case.after
        rival = [sqlite, "-batch", "-bail", "-init", os.devnull, "b.db"]
    print(f"\n{case.name}: {case.about}")
    print(f"  input  {case.input}, {rows:,} rows, {(work / case.input).stat().st_size:,} bytes")
    print(f"  A      inrush {' '.join(load[1:])}")
    shown = " | ".join(script.strip().splitlines()) if script else " ".join(os.path.basename(word) for word in rival)
    print(f"  B      {shown if len(shown) < 300 else shown[:140] + ' ... ' + shown[-140:]}")

    def second_of_two(database: str, command: list[str], script: str = "") -> dict:
        for _ in range(2):
            (work / database).unlink(missing_ok=True)
            if case.existing:
                shell(sqlite, database, script="CREATE TABLE other(x); INSERT INTO other VALUES(1);\n" + table)
            run = timed(command, work, script)
        return run

    runs = []
    for _ in range(pairs):
        a = second_of_two("a.db", load)
        b = second_of_two("b.db", rival, script)
        if not case.more_is_worse:
            shell(sqlite, "a.db", "SELECT 1")
            verify(sqlite, case, rows)
        runs.append((a, b))
        print(f"  A {a['s']:6.2f} s  B {b['s']:6.2f} s   CPU A {a['cpu']:5.2f} s  B {b['cpu']:5.2f} s   peak A {a['mb']:4.0f} MB")
    if not case.more_is_worse:
        paired.keep("SQLite", case.name, runs)
    line = f"{case.name:<9} {paired.figures(runs, case.wanted, case.more_is_worse)}   {paired.peak(runs)}"
    print(f"  {line}")
    return line


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=5_000_000, metavar="ROWS")
    parser.add_argument("pairs", type=int, nargs="?", default=5, metavar="PAIRS")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all")
    parser.add_argument("--strategy", metavar="ID", help="handed on to inrush load")
    parser.add_argument("--set", action="append", default=[], metavar="KNOB=VALUE", help="handed on to inrush load")
    args = parser.parse_args()
    if args.rows < 1 or args.pairs < 1:
        parser.error("ROWS and PAIRS are at least 1")
    known = cases(args.rows, paired.target())
    if unknown := set(args.cases) - {case.name for case in known}:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    chosen = [case for case in known if not args.cases or case.name in args.cases]

    inrush = paired.binary()
    sqlite = shutil.which(os.environ.get("SQLITE3", "sqlite3")) or sys.exit("sqlite3 is not there; `make deps` installs it")
    extra = [word for knob in args.set for word in ("--set", knob)]
    if args.strategy:
        extra += ["--strategy", args.strategy]
    with tempfile.TemporaryDirectory(prefix="inrush-bench-") as folder:
        work = Path(folder).resolve()
        need_mb, free_mb = args.rows * 500 // 1_000_000, shutil.disk_usage(work).free // 1_000_000
        if free_mb < need_mb:
            sys.exit(f"about {need_mb} MB are needed in {work.parent}, {free_mb} MB are free; TMPDIR names another place")
        # What is loaded later is read from `work`, so the shell's checks run there too.
        os.chdir(work)
        version = subprocess.run([inrush, "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()
        print(f"machine    {machine(work)}")
        print(f"versions   {version}, sqlite3 {shell(sqlite, '--version').split()[0]}, python {platform.python_version()}")
        lines = [run(case, inrush, sqlite, args.rows, args.pairs, extra, work) for case in chosen]
    print(f"\n{args.pairs} pairs each, medians, every table verified equal")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
