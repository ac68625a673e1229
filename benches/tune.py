#!/usr/bin/env python3
"""What `inrush tune` finds in its time, against an exhaustive run.

    benches/tune.py [--budget 2m] [--mb 200] [--pairs 7] [--results DIR] [sqlite duckdb mariadb-10.11 mysql-8.0 postgres-15]

For each target and three shapes of rows (nodes, wide text, 60 narrow columns): `tune` with its budget; then
loads of the same file by every candidate that its report names, and by what it chose, in blocks of shuffled
order with the default. Whoever is far behind after a block is left out, and one that takes three times as
long as the default is stopped. The best three of this race, tune's choice and the default, twice, are then
measured anew, in blocks of their own: what was best in the race was also lucky there. Where tune's choice
is then behind, it and the best are measured once more, by themselves, for the same reason, until it is
clear on which side of the bound the median lies, in at most 41 blocks.

A figure holds where tune's choice is no more than 5 % behind the best of these, and is not slower than the
default beyond the noise of two defaults in each block; both by the medians within blocks, which the line
shows with their ranges. `noise` is a choice that was behind by less than its blocks can tell: the interval
that holds the median with 95 % has also what holds. Servers come from INRUSH_TEST_SERVERS, as
`inrush-servers NAME... -- COMMAND` sets it.
"""

import argparse
import json
import math
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

INRUSH = os.environ.get("INRUSH", "target/dist/inrush")
BEHIND_MAX = 0.05
# What share of the best ratio so far keeps a way in the race, after each of its blocks.
STAYS_IN_RACE = (0.5, 0.75, 0.85)
FINALISTS = 3
# How many times as long as the default a load of the race takes at most: it would be far behind in any case.
TIMES_DEFAULT_MAX = 3
# How many blocks two ways have by themselves, at most, until it is clear whether one is too far behind.
DUEL_MAX = 41


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


def load(target, source, words, seconds_max=None):
    """Rows a second; None of a load that failed, or took longer than it may."""
    target.clear()
    into = [str(source), target.url, "--table", "bench", "--if-exists", "replace"]
    command = [INRUSH, "load", *into, "--profiles", "none", "--json", "-q", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        told, _ = process.communicate(timeout=seconds_max)
    except subprocess.TimeoutExpired:
        # As Ctrl-C does it: nothing is left behind.
        process.send_signal(signal.SIGINT)
        process.communicate()
        return None
    return json.loads(told)["rows_per_second"] if process.returncode == 0 else None


def interval(values):
    """The interval of order statistics that holds the median with 95 %."""
    count, outside, left = len(values), 0, 0.025
    while (left := left - math.comb(count, outside) / 2**count) >= 0:
        outside += 1
    ordered, cut = sorted(values), max(outside, 1)
    return ordered[cut - 1], ordered[count - cut]


class Blocks:
    """Loads in blocks of shuffled order: one by each way."""

    def __init__(self, target, source, ways):
        self.target, self.source, self.ways = target, source, dict(ways)
        self.rates = {way: [] for way in ways}
        self.rng = random.Random(5)

    def race(self):
        """A block that begins with the default, by which the others' time is measured."""
        begun = time.monotonic()
        self.once("default")
        seconds_max = TIMES_DEFAULT_MAX * (time.monotonic() - begun)
        for way in self.shuffled(set(self.ways) - {"default"}):
            self.once(way, seconds_max)

    def run(self):
        for way in self.shuffled(self.ways):
            self.once(way)

    def shuffled(self, ways):
        order = sorted(ways)
        self.rng.shuffle(order)
        return order

    def once(self, way, seconds_max=None):
        if way in self.ways:
            rate = load(self.target, self.source, self.ways[way], seconds_max)
            if rate is None:
                del self.ways[way]
            else:
                self.rates[way].append(rate)

    def ratios(self, way, to="default"):
        return [a / b for a, b in zip(self.rates[way], self.rates[to])]

    def ratio(self, way, to="default"):
        return statistics.median(self.ratios(way, to))

    def spread(self, way, to="default"):
        ratios = self.ratios(way, to)
        return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


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
    ways = {"default": [], "default again": []}
    own = "default"
    if not found["is_default"]:
        own = f"chosen: {chosen['label']}"
        ways[own] = options(chosen["recipe"])
    for one in found["candidates"]:
        if one["label"] != chosen["label"]:
            ways[one["label"]] = options(one["recipe"])
    kept = {"default", "default again", own}
    race = Blocks(target, source, ways)
    for share in STAYS_IN_RACE:
        race.race()
        ahead = max(race.ratio(way) for way in race.ways)
        for way in set(race.ways) - kept:
            if race.ratio(way) < ahead * share:
                del race.ways[way]
    last = sorted(set(race.ways) - kept, key=race.ratio)[-FINALISTS:]
    finals = Blocks(target, source, {way: ways[way] for way in [*kept, *last]})
    for _ in range(args.pairs):
        finals.run()
    if own not in finals.ways:
        print(f"{target.name} {shape}: what tune chose fails: {chosen['label']}", flush=True)
        return None
    noise = statistics.median(max(a, b) / min(a, b) for a, b in zip(finals.rates["default"], finals.rates["default again"])) - 1
    best = max(set(finals.ways) - {"default again"}, key=finals.ratio)
    behind = 1 - finals.ratio(own, best)
    duel = Blocks(target, source, {way: ways[way] for way in (own, best)})
    is_behind = is_told = behind > BEHIND_MAX
    if is_behind:
        low, high = 0, math.inf
        while len(duel.rates[own]) < DUEL_MAX and low < 1 - BEHIND_MAX <= high:
            for _ in range(2 * args.pairs + 1 if not duel.rates[own] else 2):
                duel.run()
            low, high = interval(duel.ratios(own, best))
        behind = 1 - duel.ratio(own, best)
        is_behind = behind > BEHIND_MAX
        is_told = high < 1 - BEHIND_MAX
    is_slower = finals.ratio(own) < 1 - noise
    verdict = "FAILS" if is_slower or is_told else "noise" if is_behind else "holds"
    ratios = {way: race.ratio(way) for way in race.rates if race.rates[way]} | {way: finals.ratio(way) for way in finals.ways}
    row = {"target": target.name, "shape": shape, "chosen": chosen["label"], "is_default": found["is_default"],
           "tune_ratio": chosen["ratio"], "ratio": finals.ratio(own), "best": best, "best_ratio": finals.ratio(best),
           "behind": behind, "noise": noise, "seconds": found["seconds"],
           "verdict": verdict, "ratios": ratios, "race": race.rates, "finals": finals.rates,
           "duel": duel.rates}
    (report / "exhaustive.json").write_text(json.dumps(row, indent=1))
    ahead = f", by themselves {duel.spread(best, own)} to the choice" if duel.rates[own] else ""
    print(f"{verdict}  {target.name:<14} {shape:<7} {finals.spread(own)} ({chosen['label']})  best {finals.spread(best)} ({best}){ahead}  "
          f"behind {behind * 100:.1f} %  noise {noise * 100:.1f} %  {found['seconds']:.0f} s", flush=True)
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
    sys.exit(any(row is None or row["verdict"] == "FAILS" for row in rows))


if __name__ == "__main__":
    main()
