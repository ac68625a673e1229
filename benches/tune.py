#!/usr/bin/env python3
"""What `inrush tune` finds in its time, against an exhaustive run.

    benches/tune.py [--budget 2m] [--mb 200] [--pairs 7] [--results DIR] [sqlite duckdb mariadb-10.11 mysql-8.0 postgres-15]

For each target and three shapes of rows (nodes, wide text, 60 narrow columns): `tune` with its budget; then
loads of the same file by every candidate that its report names, and by what it chose, in blocks of shuffled
order with the default. The exhaustive run's best is the candidate with the highest median ratio to the
default. A figure holds where tune's choice is no more than 5 % behind that best, and is not slower than the
default beyond the noise of two defaults in each block. Servers come from INRUSH_TEST_SERVERS, as `inrush-
servers NAME... -- COMMAND` sets it.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

INRUSH = os.environ.get("INRUSH", "target/dist/inrush")
BEHIND_MAX = 0.05


def nodes(out, size):
    out.write("id\tlat\tlon\tversion\tuser\n")
    rng = random.Random(1)
    row = 0
    while out.tell() < size:
        row += 1
        lat, lon = rng.uniform(-90, 90), rng.uniform(-180, 180)
        out.write(f"{row}\t{lat:.7f}\t{lon:.7f}\t{rng.randrange(1, 9)}\tu{rng.randrange(10**5)}\n")


def wide(out, size):
    out.write("id,title,body\n")
    rng = random.Random(2)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randrange(2, 12))) for _ in range(5000)]
    row = 0
    while out.tell() < size:
        row += 1
        body = " ".join(rng.choices(words, k=rng.randrange(40, 200)))
        out.write(f'{row},"{" ".join(rng.choices(words, k=6))}","{body}"\n')


def narrow(out, size):
    out.write(",".join(f"c{n}" for n in range(60)) + "\n")
    rng = random.Random(3)
    while out.tell() < size:
        out.write(",".join(str(rng.randrange(1000)) for _ in range(60)) + "\n")


SHAPES = {"nodes": ("tsv", nodes), "wide": ("csv", wide), "narrow": ("csv", narrow)}


class Target:
    """Where rows go, empty before each load."""

    def __init__(self, name, folder):
        self.name = name
        self.family = name.split("-")[0]
        servers = dict(pair.split("=", 1) for pair in os.environ.get("INRUSH_TEST_SERVERS", "").split())
        self.file = folder / f"bench.{'db' if name == 'sqlite' else name}" if name in ("sqlite", "duckdb") else None
        if self.file:
            self.url = str(self.file)
        elif name in servers:
            self.url = servers[name]
            if self.family in ("mariadb", "mysql"):
                socket = self.url.split("socket=")[1]
                client = shutil.which("mariadb") or shutil.which("mysql")
                make = "CREATE DATABASE IF NOT EXISTS tune; SET GLOBAL local_infile=1"
                subprocess.run([client, "--no-defaults", "-uroot", "-S", socket, "-e", make], check=True)
                self.url = self.url.replace("/?", "/tune?")
        else:
            sys.exit(f"{name} is not in INRUSH_TEST_SERVERS")

    def clear(self):
        if self.file:
            for left in self.file.parent.glob(self.file.name + "*"):
                left.unlink()


def options(recipe):
    words = ["--strategy", recipe["strategy"], "--lanes", str(recipe["lanes"]), "--encoders", str(recipe["encoders"]),
             "--chunk-size", str(recipe["chunk_bytes"])]
    for name, value in recipe["knobs"].items():
        words += ["--set", f"{name}={value}"]
    return words


def load(target, source, words):
    """Rows a second; None of a load that failed."""
    target.clear()
    into = [str(source), target.url, "--table", "bench", "--if-exists", "replace"]
    command = [INRUSH, "load", *into, "--profiles", "none", "--json", "-q", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None
    return json.loads(done.stdout)["rows_per_second"]


def measure(target, shape, source, args, results):
    target.clear()
    report = results / f"{target.name}-{shape}"
    done = subprocess.run(
        [INRUSH, "tune", str(source), target.url, "--table", "bench", "--if-exists", "replace", "--budget", args.budget,
         "--profiles", str(report / "profiles.toml"), "--report", str(report), "--json"],
        capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{target.name} {shape}: tune failed: {done.stderr.strip()}", flush=True)
        return None
    found = json.loads(done.stdout)
    chosen = found["winner"]
    ways = {"default": [], "default again": [], f"chosen: {chosen['label']}": options(chosen["recipe"])}
    for one in found["candidates"]:
        ways[one["label"]] = options(one["recipe"])
    rates = {way: [] for way in ways}
    base = load(target, source, [])
    rng = random.Random(5)
    out = set()
    for block in range(args.pairs):
        order = [way for way in ways if way not in out]
        rng.shuffle(order)
        for way in order:
            rate = load(target, source, ways[way])
            if rate is None:
                out.add(way)
            else:
                rates[way].append(rate)
                # What is far behind in its first block won't be the best.
                if block == 0 and base and rate < base / 3 and not way.startswith(("default", "chosen")):
                    out.add(way)
    beside = lambda way: statistics.median(a / b for a, b in zip(rates[way], rates["default"]))
    ratio = {way: beside(way) for way in ways if way not in out and rates[way]}
    noise = statistics.median(max(a, b) / min(a, b) for a, b in zip(rates["default"], rates["default again"])) - 1
    own = next(way for way in ways if way.startswith("chosen"))
    best = max((way for way in ratio if way != "default again"), key=ratio.get)
    behind = 1 - ratio[own] / ratio[best]
    verdict = "holds" if behind <= BEHIND_MAX and ratio[own] >= 1 - noise else "FAILS"
    row = {"target": target.name, "shape": shape, "chosen": chosen["label"], "is_default": found["is_default"],
           "tune_ratio": chosen["ratio"], "ratio": ratio[own], "best": best, "best_ratio": ratio[best],
           "behind": behind, "noise": noise, "seconds": found["seconds"],
           "verdict": verdict, "ratios": ratio}
    (report / "exhaustive.json").write_text(json.dumps(row, indent=1))
    print(f"{verdict}  {target.name:<14} {shape:<7} {ratio[own]:.2f} ({chosen['label']})  "
          f"best {ratio[best]:.2f} ({best})  behind {behind * 100:.1f} %  noise {noise * 100:.1f} %  {found['seconds']:.0f} s", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", default=["sqlite", "duckdb", "mariadb-10.11", "mysql-8.0", "postgres-15"])
    parser.add_argument("--budget", default="2m")
    parser.add_argument("--mb", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--shapes", nargs="*", default=list(SHAPES))
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("results/tune"))
    args = parser.parse_args()
    args.results.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for shape in args.shapes:
            ending, write = SHAPES[shape]
            source = folder / f"{shape}.{ending}"
            with source.open("w") as out:
                write(out, args.mb * 1_000_000)
            for name in args.targets:
                rows.append(measure(Target(name, folder), shape, source, args, args.results))
            source.unlink()
    (args.results / "summary.json").write_text(json.dumps(rows, indent=1))
    sys.exit(any(row is None or row["verdict"] != "holds" for row in rows))


if __name__ == "__main__":
    main()
