#!/usr/bin/env python3
"""Peak resident memory of inrush load: memory.py [SIZE_MB] [--limit MB] [--case NAME ...]

Loads the same generated rows, SIZE_MB of text (default 2048), into a new SQLite database: plain TSV, quoted CSV,
gzip, zstd. Prints the peak of each load and exits 1 when one is above the limit (default 150 MB).

The peak is what the kernel counted for that one process (wait4), pages of mapped files included.
INRUSH names the binary (default: target/dist/inrush), TMPDIR the place for the files: about three times SIZE_MB.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pairs as paired

NODES = [sys.executable, str(paired.ROOT / "benches" / "nodes.py")]
# name: (words for nodes.py, packer, file name, words for inrush)
CASES = {
    "tsv": ([], None, "nodes.tsv", ["--header", "no"]),
    "csv-quoted": (["--quoted"], None, "nodes.csv", ["--header", "yes"]),
    "gzip": ([], ["gzip", "-1", "-c"], "nodes.tsv.gz", ["--header", "no"]),
    "zstd": ([], ["zstd", "-1", "-q", "-c"], "nodes.tsv.zst", ["--header", "no"]),
}
MB = 1_000_000


def rows_for(size: int, words: list[str], work: Path) -> int:
    """How many rows make about `size` bytes, or some more: ids grow by a digit now and then."""
    sample = 200_000
    generate(work / "sample", sample, words, None)
    return max(1, size * sample // (work / "sample").stat().st_size)


def generate(path: Path, rows: int, words: list[str], packer: list[str] | None) -> None:
    with open(path, "wb") as file:
        if packer is None:
            subprocess.run([*NODES, str(rows), *words], stdout=file, check=True)
            return
        nodes = subprocess.Popen([*NODES, str(rows), *words], stdout=subprocess.PIPE)
        subprocess.run(packer, stdin=nodes.stdout, stdout=file, check=True)
        nodes.stdout.close()
        if nodes.wait() != 0:
            sys.exit("the rows could not be generated")


def rows_in(database: Path) -> int:
    query = ["sqlite3", "-batch", "-init", os.devnull, str(database), "SELECT count(*) FROM nodes"]
    return int(subprocess.run(query, stdout=subprocess.PIPE, check=True, text=True).stdout)


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size_mb", type=int, nargs="?", default=2048, metavar="SIZE_MB")
    parser.add_argument("--limit", type=int, default=150, metavar="MB")
    parser.add_argument("--case", action="append", choices=CASES, metavar="NAME", help=f"one of {', '.join(CASES)}; all by default")
    args = parser.parse_args()
    if args.size_mb < 1:
        parser.error("SIZE_MB is at least 1")

    inrush = paired.binary()
    cases = args.case or list(CASES)
    for tool in {"sqlite3", *(CASES[case][1][0] for case in cases if CASES[case][1])}:
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is not there; `make deps` installs it")
    above = []
    with tempfile.TemporaryDirectory(prefix="inrush-memory-") as folder:
        work = Path(folder).resolve()
        free_mb = shutil.disk_usage(work).free // MB
        if free_mb < 3 * args.size_mb:
            sys.exit(f"about {3 * args.size_mb} MB are needed in {work.parent}, {free_mb} MB are free; TMPDIR names another place")
        print(f"{'case':<12} {'rows':>12} {'file':>10} {'seconds':>9} {'peak':>9}   limit {args.limit} MB")
        for case in cases:
            words, packer, name, options = CASES[case]
            rows = rows_for(args.size_mb * MB, words, work)
            generate(work / name, rows, words, packer)
            done = paired.timed([inrush, "load", name, "nodes.db", "--table", "nodes", *options], work)
            peak, seconds = done["mb"] * (1 << 20), done["s"]
            loaded = rows_in(work / "nodes.db")
            if loaded != rows:
                sys.exit(f"{case}: {rows:,} rows were given, {loaded:,} are in the table")
            over = peak > args.limit * MB
            above += [case] if over else []
            print(f"{case:<12} {rows:>12,} {(work / name).stat().st_size // MB:>7} MB {seconds:>7.1f} s {peak / MB:>6.0f} MB"
                  f"{'   above the limit' if over else ''}")
            for file in work.iterdir():
                file.unlink()
    if above:
        sys.exit(f"above {args.limit} MB: {', '.join(above)}")


if __name__ == "__main__":
    main()
