#!/usr/bin/env python3
"""inrush load against sqlite3's .import, side by side: sqlite.py [ROWS] [PAIRS] [--strategy ID] [--set KNOB=VALUE]

Each pair loads the same generated TSV file twice, each time into a fresh copy of one database that holds an empty,
typed table: (A) inrush load, (B) sqlite3 .import. Both with a rollback journal, synchronous=FULL and one transaction,
timed from the start of the process to its end. The runs are interleaved A B A B; what the run before left to be
written is flushed first; no cache is dropped. After each pair both tables are compared value by value, with types,
and a difference ends the bench: there is no time without a verified table.

sqlite3 reads in ascii mode with tab and newline as separators. That is its fastest reader and takes quotes as they
are; its tabs mode would unquote a field that begins with a quote.

INRUSH names the binary (default: target/release/inrush), SQLITE3 the shell, TMPDIR the place for the files.
"""

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = """CREATE TABLE nodes(id integer primary key, lat real, lon real, version integer,
  timestamp text, changeset integer, uid integer, user text);"""
COLUMNS = ["id", "lat", "lon", "version", "timestamp", "changeset", "uid", "user"]
IMPORT = """PRAGMA synchronous=FULL;
.mode ascii
.separator "\\t" "\\n"
.import nodes.tsv nodes
"""


def binary() -> str:
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    path = os.environ.get("INRUSH", str(ROOT / target / "release" / "inrush"))
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there; build it with `cargo build --release`, or name it in INRUSH")
    return os.path.abspath(path)


def shell(sqlite: str, *words: str, script: str | None = None) -> str:
    """Runs the sqlite3 shell without the user's own settings; what it complains about is the end."""
    command = [sqlite, "-batch", "-bail", "-init", os.devnull, *words]
    done = subprocess.run(command, input=script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0 or done.stderr.strip():
        sys.exit(f"sqlite3 failed with exit code {done.returncode}:\n{done.stderr or done.stdout}")
    return done.stdout


def timed(command: list[str], work: Path, script: str = "") -> dict:
    """Runs one command to its end. Seconds are wall time; CPU and memory are the child's own, from wait4."""
    os.sync()
    with open(work / "output", "w+b") as output, open(work / "script", "w+") as given:
        given.write(script)
        given.seek(0)
        start = time.perf_counter()
        child = subprocess.Popen(command, cwd=work, stdin=given, stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            output.seek(0)
            sys.stdout.write(output.read().decode(errors="replace"))
            sys.exit(f"exit code {child.returncode} from: {' '.join(command)}")
    return {"s": seconds, "cpu": used.ru_utime + used.ru_stime, "mb": used.ru_maxrss / 1024}


def verify(sqlite: str, work: Path, rows: int) -> None:
    """Both tables hold the same rows: every value equal, of the same type, under the same id.

    Doubles are compared by their 15 digits, which is how SQLite writes them: its own conversion of text misses the nearest
    double by one in about 1 of 2,000 of these coordinates, where inrush's is correctly rounded, as Python's.
    """
    shown = {c: "a.{0} || '' IS b.{0} || ''" if c in ("lat", "lon") else "a.{0} IS b.{0}" for c in COLUMNS}
    same = " AND ".join(f"{shown[c].format(c)} AND typeof(a.{c}) = typeof(b.{c})" for c in COLUMNS)
    counts = shell(sqlite, "inrush.db", script=f"""ATTACH 'sqlite3.db' AS other;
        SELECT (SELECT count(*) FROM main.nodes), (SELECT count(*) FROM other.nodes),
               (SELECT count(*) FROM main.nodes a JOIN other.nodes b ON a.id = b.id WHERE {same});""").strip()
    if counts != f"{rows}|{rows}|{rows}":
        sys.exit(f"the tables differ: rows by inrush | by sqlite3 | equal = {counts}, expected {rows} of each")
    check = shell(sqlite, "inrush.db", script="PRAGMA quick_check; PRAGMA journal_mode;").split()
    if check != ["ok", "delete"]:
        sys.exit(f"the database that inrush wrote is not sound: quick_check, journal_mode = {check}")


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


def spread(name: str, values: list[float], unit: str) -> None:
    low, middle, high = min(values), statistics.median(values), max(values)
    print(f"{name:<18} min {low:.2f}{unit}  median {middle:.2f}{unit}  max {high:.2f}{unit}")


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=5_000_000, metavar="ROWS")
    parser.add_argument("pairs", type=int, nargs="?", default=5, metavar="PAIRS")
    parser.add_argument("--strategy", default="sqlite/bind", metavar="ID")
    parser.add_argument("--set", action="append", default=[], metavar="KNOB=VALUE", help="handed on to inrush load")
    args = parser.parse_args()
    if args.rows < 1 or args.pairs < 1:
        parser.error("ROWS and PAIRS are at least 1")

    inrush = binary()
    sqlite = shutil.which(os.environ.get("SQLITE3", "sqlite3")) or sys.exit("sqlite3 is not there; `make deps` installs it")
    with tempfile.TemporaryDirectory(prefix="inrush-bench-") as folder:
        work = Path(folder).resolve()
        need_mb, free_mb = args.rows * 240 // 1_000_000, shutil.disk_usage(work).free // 1_000_000
        if free_mb < need_mb:
            sys.exit(f"about {need_mb} MB are needed in {work.parent}, {free_mb} MB are free; TMPDIR names another place")
        with open(work / "nodes.tsv", "wb") as tsv:
            subprocess.run([sys.executable, str(ROOT / "benches" / "nodes.py"), str(args.rows)], stdout=tsv, check=True)
        shell(sqlite, str(work / "empty.db"), script=TABLE)

        load = [inrush, "load", "nodes.tsv", "--header", "no", "--table", "nodes", "--if-exists", "append",
                "--strategy", args.strategy, *(word for knob in args.set for word in ("--set", knob)), "inrush.db"]
        # What is loaded later is read from `work`, so the shell's checks run there too.
        os.chdir(work)
        size = (work / "nodes.tsv").stat().st_size
        print(f"machine    {machine(work)}")
        print(f"versions   {subprocess.run([inrush, '--version'], stdout=subprocess.PIPE, text=True).stdout.strip()}, "
              f"sqlite3 {shell(sqlite, '--version').split()[0]}, python {platform.python_version()}")
        print(f"input      {args.rows:,} rows, {size:,} bytes, tab-separated")
        print(f"A          {' '.join(['inrush', *load[1:]])}")
        print(f"B          sqlite3 sqlite3.db: {' | '.join(IMPORT.splitlines())}")
        print()
        print(f"{'pair':>4} {'A inrush':>10} {'B sqlite3':>10} {'B / A':>7}   {'CPU A':>8} {'CPU B':>8} {'peak A':>9}")
        runs = []
        for pair in range(1, args.pairs + 1):
            for name in ("inrush.db", "sqlite3.db"):
                shutil.copyfile(work / "empty.db", work / name)
            a = timed(load, work)
            b = timed([sqlite, "-batch", "-bail", "-init", os.devnull, "sqlite3.db"], work, IMPORT)
            verify(sqlite, work, args.rows)
            runs.append((a, b))
            print(f"{pair:>4} {a['s']:>8.2f} s {b['s']:>8.2f} s {b['s'] / a['s']:>7.2f}"
                  f"   {a['cpu']:>6.2f} s {b['cpu']:>6.2f} s {a['mb']:>6.0f} MB")
        print()
        spread("A inrush", [a["s"] for a, _ in runs], " s")
        spread("B sqlite3 .import", [b["s"] for _, b in runs], " s")
        spread("B / A", [b["s"] / a["s"] for a, b in runs], "")
        print(f"pairs: {args.pairs}, every table verified equal")


if __name__ == "__main__":
    main()
