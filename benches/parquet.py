#!/usr/bin/env python3
"""inrush load into Parquet files against DuckDB's COPY, side by side: parquet.py [ROWS] [PAIRS] [CASE ...]

Each case converts the same generated file in interleaved runs A B A B: (A) inrush load, verified as always, timed from the start of the
process to its end; (B) DuckDB's own COPY (FROM read_csv) TO a Parquet file with the same compression. The statement has the columns'
types and the dialect in it, so that it looks for neither. Neither waits for the disk, for COPY doesn't. Each run starts with the input in
memory and nothing left to be written. After each pair both files are compared row by row as multisets (EXCEPT ALL, both ways) by DuckDB,
and a difference ends the bench: there is no time without a verified file.

Cases:
  zstd    the nodes table, tab-separated, compressed by zstd as inrush does by default
  snappy  the same, compressed by snappy as DuckDB does by default
  quoted  CSV whose text fields are all quoted, hard ones among them, zstd
  back    the zstd file read into another, against COPY (FROM read_parquet)

The library is INRUSH_DUCKDB_LIB, or what `scripts/servers.sh duckdb-1.5` has fetched; INRUSH names the binary (default:
target/dist/inrush).
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import pairs as paired
from duckdb import NAMES, Database, quoted_names, read_csv

WANTED = 1 / 2


def cases() -> dict[str, tuple[str, str, str, list[str]]]:
    """By its name a case's input, what DuckDB reads it with, the compression, and inrush's options."""
    tsv = read_csv("nodes.tsv", "\t", False, NAMES)
    return {
        "zstd": ("nodes.tsv", tsv, "zstd", ["--header", "no"]),
        "snappy": ("nodes.tsv", tsv, "snappy", ["--header", "no"]),
        "quoted": ("quoted.csv", read_csv("quoted.csv", ",", True, quoted_names()), "zstd", []),
        "back": ("nodes.parquet", "read_parquet('nodes.parquet')", "zstd", []),
    }


def generate(name: str, rows: int, work: Path) -> None:
    if (work / name).exists():
        return
    if name == "nodes.parquet":
        generate("nodes.tsv", rows, work)
        copy(read_csv("nodes.tsv", "\t", False, NAMES), name, "zstd")
    else:
        paired.nodes(work / name, rows, *["--quoted"] * (name == "quoted.csv"))


def copy(source: str, path: str, compression: str) -> None:
    with Database(":memory:") as database:
        database.sql(f"COPY (FROM {source}) TO '{path}' (FORMAT parquet, COMPRESSION {compression})")


def verify(rows: int) -> None:
    a, b = "read_parquet('a.parquet')", "read_parquet('b.parquet')"
    with Database(":memory:") as database:
        counts = database.sql(f"SELECT (SELECT count(*) FROM {a}) || ' ' || (SELECT count(*) FROM {b})")
        differing = database.sql(f"SELECT count(*) FROM ((FROM {a} EXCEPT ALL FROM {b}) UNION ALL (FROM {b} EXCEPT ALL FROM {a}))")
    if counts != f"{rows} {rows}" or differing != "0":
        sys.exit(f"the files differ: rows by inrush, by DuckDB = {counts}, expected {rows} of each; differing: {differing}")


def run(name: str, rows: int, pairs: int, work: Path) -> None:
    path, source, compression, options = cases()[name]
    generate(path, rows, work)
    ours = [paired.binary(), "load", path, "a.parquet", *options, "--durability", "process", "--set", f"compression={compression}", "-q"]
    theirs = [sys.executable, "-S", __file__, "--copy", source, "b.parquet", compression]
    runs = []
    for turn in range(pairs + 1):
        pair = []
        for command, made in ((ours, "a.parquet"), (theirs, "b.parquet")):
            Path(made).unlink(missing_ok=True)
            os.sync()
            pair.append(paired.timed(command, work))
        verify(rows)
        # The first pair is for the caches.
        if turn > 0:
            runs.append((pair[0], pair[1]))
    paired.keep("Parquet", name, runs)
    cpu = " ".join(f"{run['cpu']:.1f}" for run in runs[-1])
    sizes = " ".join(f"{os.path.getsize(made) >> 20}" for made in ("a.parquet", "b.parquet"))
    print(f"{name:7} {paired.figures(runs, WANTED)}   CPU s {cpu}   {paired.peak(runs)}   files of {sizes} MiB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="?", type=int, default=5_000_000)
    parser.add_argument("pairs", nargs="?", type=int, default=5)
    parser.add_argument("cases", nargs="*", choices=[*cases(), []], default=[])
    # What processes of their own are given.
    if sys.argv[1:2] == ["--copy"]:
        copy(*sys.argv[2:5])
        return
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in args.cases or cases():
            run(name, args.rows, args.pairs, Path(folder))


if __name__ == "__main__":
    main()
