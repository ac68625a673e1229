#!/usr/bin/env python3
"""inrush load into MySQL and MariaDB against what people use, side by side: mysql.py [ROWS] [PAIRS] [CASE ...]

Each case loads the same generated file (the nodes table, tab-separated) into an empty InnoDB table with a primary key, in
interleaved runs A B A B: (A) inrush load, timed from the start of the process to its end, (B) the rival. Both load into the
same server with the same durability. After each pair both tables are compared by CHECKSUM TABLE and by their row counts, and a
difference ends the bench: there is no time without a verified table.

Cases:
  import     two lanes (the planner's choice on two cores) against mariadb-import --local of the same file
  one-lane   --lanes 1 against the same
  halves     two lanes against two mariadb clients at once, each with one half of the file, cut beforehand: what the server itself
             can do with two connections on this machine, when nobody checks a value and half the rows may stay alone
  existing   into an empty table that is there, against the same
  tablespace           the table's file, written without the server (--strategy mysql/tablespace), against LOAD DATA LOCAL of the same file
  tablespace-indexes   the same with two secondary indexes, against LOAD DATA into the table that has them; both without binary log
  sling, dlt, ingestr
             against tools that people install for this (PyPI; ROWS / 10 rows): only when named, where they are installed

The servers are those of INRUSH_TEST_SERVERS, which `make bench-mysql` starts. CPU seconds are the client's own and what the
server process used meanwhile.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pairs as paired

TABLE = ("CREATE TABLE {} (column_1 BIGINT NOT NULL, column_2 DOUBLE, column_3 DOUBLE, column_4 BIGINT, column_5 DATETIME(6), "
         "column_6 BIGINT, column_7 BIGINT, column_8 LONGTEXT, PRIMARY KEY (column_1)) "
         "ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
INDEXES = ", KEY (column_4), KEY (column_6, column_5))"
WANTED = {"import": 1.6, "one-lane": 1.0, "existing": 1.6, "halves": 1.0, "tablespace": 8, "tablespace-indexes": 3,
          "sling": 10, "dlt": 10, "ingestr": 10}
PEERS = ("sling", "dlt", "ingestr")


class Server:
    def __init__(self, name: str, url: str):
        self.name = name
        parts = urlsplit(url)
        self.port = parts.port
        self.socket = parse_qs(parts.query)["socket"][0]
        self.url = f"mysql://root@127.0.0.1:{parts.port}/bench?socket={self.socket}"
        self.tcp = f"mysql://root@127.0.0.1:{parts.port}/bench"
        self.sql("DROP DATABASE IF EXISTS bench; CREATE DATABASE bench CHARACTER SET utf8mb4", database="")
        self.pid = int(Path(self.sql("SELECT @@pid_file")[0]).read_text())

    def client(self) -> list[str]:
        return ["--no-defaults", "--user=root", f"--socket={self.socket}"]

    def sql(self, text: str, database: str = "bench") -> list[str]:
        done = subprocess.run(["mariadb", *self.client(), "-N", "--batch", "-e", text, database], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{self.name}: {done.stderr}")
        return done.stdout.split("\n")[:-1]

    def cpu(self) -> float:
        return paired.cpu(self.pid)

    def settle(self) -> None:
        """Has the server write what it still holds in memory, so that no run pays for the one before."""
        self.sql("SET GLOBAL innodb_max_dirty_pages_pct = 0")
        for _ in range(120):
            rows = self.sql("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'")
            if int(rows[0].split("\t")[1]) < 200:
                break
            time.sleep(0.25)
        self.sql("SET GLOBAL innodb_max_dirty_pages_pct = 90")
        os.sync()


def timed(server: Server, command: list[str], env: dict | None = None) -> dict:
    server.settle()
    return paired.timed(command, env=env, server_cpu=server.cpu)


def verify(server: Server, rows: int) -> None:
    sums = [line.split("\t")[1] for line in server.sql("CHECKSUM TABLE a, b")]
    counts = [int(server.sql(f"SELECT COUNT(*) FROM {table}")[0]) for table in "ab"]
    if sums[0] != sums[1] or counts != [rows, rows]:
        sys.exit(f"the tables differ: checksums {sums}, rows {counts}, expected {rows}")


def verify_values(server: Server, rows: int) -> None:
    """For rivals that make their own table: counts, and sums over the columns as far as both have them."""
    sums = "SELECT COUNT(*), SUM({0}1), SUM({0}4), SUM({0}6), SUM({0}7), ROUND(SUM({0}2), 3), SUM(CHAR_LENGTH({0}8)) FROM {1}"
    ours = server.sql(sums.format("column_", "a"))
    theirs = server.sql(sums.format("column_", "b"))
    if ours != theirs or not ours[0].startswith(f"{rows}\t"):
        sys.exit(f"the tables differ: {ours} and {theirs}, expected {rows} rows")


def rival(case: str, server: Server, work: Path, rows: int) -> tuple[list[str], dict]:
    """The rival's command, and what it wants in its environment."""
    if case == "sling":
        source = f"file://{work}/few.csv"
        return ["sling", "run", "--src-stream", source, "--tgt-conn", "TARGET", "--tgt-object", "bench.b", "--mode", "full-refresh"], {
            "TARGET": server.tcp.replace("mysql://", "mysql://")}
    if case == "ingestr":
        return ["ingestr", "ingest", "--yes", "--source-uri", f"csv://{work}/few.csv", "--source-table", "few", "--dest-uri",
                server.tcp.replace("mysql://", "mysql+pymysql://"), "--dest-table", "bench.b"], {}
    if case == "dlt":
        return [sys.executable, str(work / "load.py")], {}
    if case == "halves":
        load = "LOAD DATA LOCAL INFILE '{}' INTO TABLE b CHARACTER SET binary"
        client = shlex.join(["mariadb", *server.client(), "--local-infile=1", "bench", "-e"])
        halves = [f"{client} {shlex.quote(load.format(work / half))}" for half in ("first.tsv", "second.tsv")]
        return ["bash", "-c", f"{halves[0]} & first=$!; {halves[1]} && wait $first"], {}
    if case.startswith("tablespace"):
        load = f"SET sql_log_bin = 0; LOAD DATA LOCAL INFILE '{work / 'b.tsv'}' INTO TABLE b CHARACTER SET binary"
        return ["mariadb", *server.client(), "--local-infile=1", "bench", "-e", load], {}
    return ["mariadb-import", *server.client(), "--local", "--silent", "bench", str(work / "b.tsv")], {}


DLT = '''
import csv, dlt, tempfile
def rows():
    with open("{file}") as lines:
        for row in csv.DictReader(lines):
            yield {{name: value if name in ("column_5", "column_8") else float(value) if name in ("column_2", "column_3") else int(value)
                   for name, value in row.items()}}
dlt.pipeline("nodes", pipelines_dir=tempfile.mkdtemp(dir="{work}"), destination=dlt.destinations.sqlalchemy("{url}"), dataset_name="bench").run(
    rows(), table_name="b", write_disposition="replace")
'''


def run(case: str, server: Server, inrush: str, rows: int, pairs: int, extra: list[str], work: Path) -> str:
    peer = case in PEERS
    rows = rows // 10 if peer else rows
    file = work / ("few.csv" if peer else "b.tsv")
    load = [inrush, "load", str(file), server.url, "--table", "a", "-q", *extra]
    load += [] if peer else ["--header", "no"]
    load += [] if case == "existing" else ["--primary-key", "column_1"]
    load += ["--lanes", "1"] if case == "one-lane" else []
    load += ["--strategy", "mysql/tablespace", "--set", "binlog=skip"] if case.startswith("tablespace") else []
    load += ["--index", "column_4", "--index", "column_6,column_5"] if case == "tablespace-indexes" else []
    command, env = rival(case, server, work, rows)
    if case == "dlt":
        (work / "load.py").write_text(DLT.format(file=file, work=work, url=server.tcp.replace("mysql://", "mysql+pymysql://")))
    print(f"\n{server.name} {case}: {file.name}, {rows:,} rows, {file.stat().st_size:,} bytes")
    print(f"  A      inrush {' '.join(load[1:])}")
    print(f"  B      {' '.join(command)}")
    runs = []
    for pair in range(pairs + 1):
        # dlt would believe what it noted of the table that is gone.
        server.sql("DROP TABLE IF EXISTS a, b, _dlt_loads, _dlt_pipeline_state, _dlt_version")
        if case == "existing":
            server.sql(TABLE.format("a"))
        a = timed(server, load)
        if not peer:
            server.sql(TABLE.format("b").replace("))", ")" + INDEXES) if case == "tablespace-indexes" else TABLE.format("b"))
        b = timed(server, command, env)
        verify_values(server, rows) if peer else verify(server, rows)
        if pair == 0:
            continue  # The first pair warms caches, and the server's own files up to the size that they keep.
        runs.append((a, b))
        print(f"  A {a['s']:6.2f} s  B {b['s']:6.2f} s   CPU client A {a['cpu']:5.2f} s  server {a['server']:5.2f} s"
              f"   client B {b['cpu']:5.2f} s  server {b['server']:5.2f} s   peak A {a['mb']:3.0f} MB")
    paired.keep(server.name, case, runs)
    line = (f"{server.name:<14} {case:<18} {paired.figures(runs, WANTED[case])}   {paired.share(runs)}   {paired.peak(runs)}")
    print(f"  {line}")
    return line


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
    servers = [entry.split("=", 1) for entry in os.environ.get("INRUSH_TEST_SERVERS", "").split()]
    if not servers:
        sys.exit("INRUSH_TEST_SERVERS names no server; `make bench-mysql` starts some")
    inrush = paired.binary()
    for tool in ["mariadb", "mariadb-import", *(case for case in args.cases if case in ("sling", "ingestr"))]:
        shutil.which(tool) or sys.exit(f"{tool} is not there")
    lines = []
    with tempfile.TemporaryDirectory(prefix="inrush-bench-") as folder:
        work = Path(folder)
        paired.nodes(work / "b.tsv", args.rows)
        with open(work / "b.tsv", "rb") as tsv:
            for half, rows in (("first.tsv", args.rows // 2), ("second.tsv", args.rows - args.rows // 2)):
                with open(work / half, "wb") as out:
                    out.writelines(tsv.readline() for _ in range(rows))
        paired.as_csv(work / "b.tsv", work / "few.csv", args.rows // 10)
        for name, url in servers:
            server = Server(name, url)
            lines += [run(case, server, inrush, args.rows, args.pairs, args.option, work) for case in args.cases]
            server.sql("DROP DATABASE bench")
    print(f"\n{args.pairs} pairs each, medians, every table verified equal")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
