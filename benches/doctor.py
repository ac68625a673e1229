#!/usr/bin/env python3
"""What `inrush doctor --measure` says that a change is worth, against the same change tried by hand: doctor.py [ROWS] [PAIRS] [CASE ...]

Each case makes a server, or a file, that holds loads back in one way. `inrush doctor --measure` names it and measures the change that
it proposes, on private copies. Then the same rows are loaded by the database's own client, in pairs: once as it is, once after the
statements that doctor proposed, each pair in the other order than the last. Both ratios are of rates, with the change over without it;
an interval holds the median with 95 %, or is the range below six pairs. They agree where the intervals overlap. After each pair both
tables have to have all rows.

Cases:
  pool        MariaDB, a buffer pool of 8 MiB (innodb_buffer_pool_size): mariadb, LOAD DATA LOCAL
  index       MariaDB, a table with an index that another one covers (redundant-index): the same
  postgres    PostgreSQL, a table with such an index: psql, \\copy
  page        SQLite, pages of 512 bytes (page_size): sqlite3, .import

None is of the redo log: MariaDB refuses one below its buffer of 16 MiB, and one of that size is large enough for what doctor loads.

Doctor's loads are inrush's own: a build without optimisation is slower than the servers, and hides what their changes are worth.

The servers are those of INRUSH_TEST_SERVERS, which `make bench-doctor` starts; TMPDIR is the place for files and private servers, and
has to be on the disk that the servers are on. INRUSH names the binary.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import mysql
import pairs as paired
import postgres

# A change of a size shows with a whole load only, and doctor loads no more than that.
BYTES_MAX = 64 << 20
NAMES = [f"column_{n}" for n in range(1, 9)]


class MariaDB:
    """A table with an index too many."""

    finding, table = "redundant-index", mysql.TABLE.format("`rows`").replace("))", "), KEY one (column_6), KEY two (column_6, column_5))")

    def __init__(self, server: mysql.Server):
        self.server, self.url = server, server.url

    def spoil(self) -> None:
        self.server.sql(f"DROP TABLE IF EXISTS `rows`; {self.table}")

    def load(self, file: Path, statements: list[str]) -> float:
        self.spoil()
        self.server.sql("; ".join(statements))
        load = f"LOAD DATA LOCAL INFILE '{file}' INTO TABLE `rows` CHARACTER SET binary IGNORE 1 LINES"
        return mysql.timed(self.server, ["mariadb", *self.server.client(), "--local-infile=1", "bench", "-e", load])["s"]

    def rows(self) -> int:
        return int(self.server.sql("SELECT COUNT(*) FROM `rows`")[0])

    def end(self) -> None:
        self.server.sql("DROP TABLE `rows`")


class Setting(MariaDB):
    """A setting of the server that is too small. The table is as a load makes it, and has none that doctor would name."""

    table = mysql.TABLE.format("`rows`").replace(", PRIMARY KEY (column_1)", "")

    def __init__(self, server: mysql.Server, name: str, value: int):
        super().__init__(server)
        self.finding, self.value, self.default = name, value, server.sql(f"SELECT @@{name}")[0]

    def spoil(self) -> None:
        super().spoil()
        self.server.sql(f"SET GLOBAL {self.finding} = {self.value}")

    def end(self) -> None:
        super().end()
        self.server.sql(f"SET GLOBAL {self.finding} = {self.default}")


class PostgreSQL:
    """A table with an index too many."""

    finding = "redundant-index"

    def __init__(self, server: postgres.Server):
        self.server, self.url = server, server.url

    def spoil(self) -> None:
        self.server.sql("DROP TABLE IF EXISTS rows", postgres.TABLE.format("rows"),
                        "CREATE INDEX one ON rows (column_6)", "CREATE INDEX two ON rows (column_6, column_5)")

    def load(self, file: Path, statements: list[str]) -> float:
        self.spoil()
        self.server.sql(*statements) if statements else None
        copy = f"\\copy rows from '{file}' (format csv, delimiter E'\\t', header, quote E'\\x01')"
        return postgres.timed(self.server, self.server.psql("-c", copy))["s"]

    def rows(self) -> int:
        return int(self.server.sql("SELECT count(*) FROM rows"))

    def end(self) -> None:
        self.server.sql("DROP TABLE rows")


class SQLite:
    """A file of small pages."""

    finding = "page_size"

    def __init__(self, work: Path):
        self.file = work / "t.db"
        self.url = str(self.file)

    def sqlite(self, script: str) -> str:
        command = ["sqlite3", "-batch", "-bail", "-init", os.devnull, str(self.file)]
        return subprocess.run(command, input=script, stdout=subprocess.PIPE, text=True, check=True).stdout

    def spoil(self) -> None:
        self.file.unlink(missing_ok=True)
        kinds = ["INTEGER", "REAL", "REAL", "INTEGER", "TEXT", "INTEGER", "INTEGER", "TEXT"]
        columns = ", ".join(f"{name} {kind}" for name, kind in zip(NAMES, kinds, strict=True))
        self.sqlite(f"PRAGMA page_size = 512; CREATE TABLE t ({columns});")

    def load(self, file: Path, statements: list[str]) -> float:
        self.spoil()
        self.sqlite(";\n".join(statements) + ";\n" if statements else "")
        script = f'.mode ascii\n.separator "\\t" "\\n"\n.import --skip 1 {file} t\n'
        os.sync()
        return paired.timed(["sqlite3", "-batch", "-bail", "-init", os.devnull, str(self.file)], script=script)["s"]

    def rows(self) -> int:
        return int(self.sqlite("SELECT count(*) FROM t"))

    def end(self) -> None:
        self.file.unlink()


CASES = {
    "pool": lambda servers, work: Setting(servers("mariadb"), "innodb_buffer_pool_size", 8 << 20),
    "index": lambda servers, work: MariaDB(servers("mariadb")),
    "postgres": lambda servers, work: PostgreSQL(servers("postgres")),
    "page": lambda servers, work: SQLite(work),
}


def interval(ratios: list[float]) -> tuple[float, float, float]:
    """The median, and the order statistics that hold it with 95 %."""
    ordered, count = sorted(ratios), len(ratios)
    below, left = 0, 0
    # The binomial distribution of how many lie below the median.
    while count >= 6 and left + math.comb(count, below) / 2**count <= 0.025:
        left += math.comb(count, below) / 2**count
        below += 1
    outer = max(below - 1, 0)
    return statistics.median(ordered), ordered[outer], ordered[count - 1 - outer]


def measured(inrush: str, place, file: Path) -> dict:
    """The finding, with what doctor has measured."""
    done = subprocess.run([inrush, "doctor", place.url, str(file), "--measure", "--json"], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"doctor ended with {done.returncode}: {done.stderr}")
    answer = json.loads(done.stdout)
    finding = next((finding for finding in answer["findings"] if finding["id"] == place.finding), None)
    if finding is None:
        sys.exit(f"{place.finding} was not found: {[finding['id'] for finding in answer['findings']]}")
    if not finding["worth"]["measured"]:
        sys.exit(f"{place.finding} was not measured: {answer['not_known']}")
    return finding


def run(case: str, place, inrush: str, file: Path, rows: int, pairs: int) -> str:
    place.spoil()
    finding = measured(inrush, place, file)
    statements, worth = finding["statements"], finding["worth"]
    print(f"\n{case}: {rows:,} rows, {file.stat().st_size:,} bytes; {finding['is']} -> {finding['should']}: {'; '.join(statements)}")
    ratios = []
    for pair in range(pairs + 1):
        took = {}
        for change in ([], statements) if pair % 2 else (statements, []):
            took[bool(change)] = place.load(file, change)
            if place.rows() != rows:
                sys.exit(f"{case}: {place.rows()} rows are there, not {rows}")
        if pair == 0:
            continue  # The first pair makes files and fills caches.
        ratios.append(took[False] / took[True])
        print(f"  as it is {took[False]:6.2f} s   changed {took[True]:6.2f} s   {ratios[-1]:5.2f}")
    place.end()
    ratio, low, high = interval(ratios)
    verdict = "agree" if low <= worth["high"] and worth["low"] <= high else "DIFFER"
    return (f"{verdict:<6}  {case:<9} {finding['id']:<24} doctor --measure {worth['ratio']:5.2f}"
            f" ({worth['low']:.2f} to {worth['high']:.2f})   by hand {ratio:5.2f} ({low:.2f} to {high:.2f})")


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=800_000, metavar="ROWS")
    parser.add_argument("pairs", type=int, nargs="?", default=9, metavar="PAIRS")
    parser.add_argument("cases", nargs="*", metavar="CASE", default=list(CASES))
    args = parser.parse_args()
    if unknown := set(args.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    urls = dict(entry.split("=", 1) for entry in os.environ.get("INRUSH_TEST_SERVERS", "").split())
    kinds = {"mariadb": mysql.Server, "postgres": postgres.Server}

    def servers(family: str):
        name = next((name for name in urls if name.startswith(family)), None)
        if name is None:
            sys.exit(f"INRUSH_TEST_SERVERS names no {family}; `make bench-doctor` starts one")
        return kinds[family](name, urls[name])

    inrush, lines = paired.binary(), []
    with tempfile.TemporaryDirectory(prefix="inrush-bench-") as folder:
        work = Path(folder)
        paired.nodes(work / "nodes.tsv", args.rows)
        # A load finds the table by the file's name, and its columns by the first line.
        file = work / "rows.tsv"
        file.write_bytes(("\t".join(NAMES) + "\n").encode() + (work / "nodes.tsv").read_bytes())
        if file.stat().st_size > BYTES_MAX:
            sys.exit(f"{args.rows:,} rows are {file.stat().st_size:,} bytes, and doctor measures sizes with at most {BYTES_MAX:,}")
        for case in args.cases:
            lines.append(run(case, CASES[case](servers, work), inrush, file, args.rows, args.pairs))
    print(f"\n{args.pairs} pairs by hand, medians of the ratios of rates, with the change over as it is")
    print("\n".join(lines))
    sys.exit(any(line.startswith("DIFFER") for line in lines))


if __name__ == "__main__":
    main()
