#!/usr/bin/env python3
"""inrush against pymongo's insert_many, paired: the same rows from the same CSV into new collections of one server.

usage: mongodb.py [ROWS] [PAIRS], with a server named in INRUSH_TEST_SERVERS (make bench-mongodb starts FerretDB)

The program that it is compared with is what most people write: csv.DictReader, values made numbers where they are some, and insert_many of
1,000 dicts at a time, unordered. Both sides' documents are read back and compared, without their ids, before a ratio is told. Where the
server is slower than either, the ratio says more of the server; so what each side takes of the CPU is told as well, and how fast each is
into a server that does nothing but count documents ("the wire alone").
"""

import csv
import os
import resource
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INRUSH = ROOT / "target/dist/inrush"
BATCH = 1000


def ensure_pymongo(folder):
    """pymongo from wherever it is, or into a folder that goes afterwards."""
    try:
        import pymongo  # noqa: F401
    except ImportError:
        for python in (sys.executable, "/usr/bin/python3"):
            command = [python, "-m", "pip", "install", "--quiet", "--target", folder, "pymongo==4.20.0"]
            if subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0:
                break
        sys.path.insert(0, folder)


def write_rows(path, rows):
    """Nodes of a map: an id, two coordinates, a name, a moment."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "lat", "lon", "version", "user", "day"])
        for n in range(rows):
            x = n * 2654435761 % 4294967296
            writer.writerow([n, f"{x / 47721858.8 :.7f}", f"{x % 360000007 / 1000000 - 180:.7f}", x % 9, f"user {x % 5003}", f"2013-{x % 12 + 1:02}-{x % 28 + 1:02}"])


def load_with_pymongo(url, path, collection):
    import pymongo
    from datetime import datetime

    target = pymongo.MongoClient(url).get_default_database()[collection]
    batch = []
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            batch.append(
                {
                    "id": int(row["id"]),
                    "lat": float(row["lat"]),
                    "lon": float(row["lon"]),
                    "version": int(row["version"]),
                    "user": row["user"],
                    "day": datetime.fromisoformat(row["day"]),
                }
            )
            if len(batch) == BATCH:
                target.insert_many(batch, ordered=False)
                batch = []
    if batch:
        target.insert_many(batch, ordered=False)


def load_with_inrush(url, path, collection):
    command = [INRUSH, "load", path, url, "--table", collection, "--quiet"]
    subprocess.run(command, check=True)


def contents(url, collection):
    """An order-independent sum over the documents without their ids."""
    import pymongo

    target = pymongo.MongoClient(url).get_default_database()[collection]
    count, total = 0, 0
    for document in target.find({}, {"_id": 0}):
        count += 1
        total = (total + hash(tuple(document.items()))) % (1 << 64)
    return count, total


def measured(work):
    """Seconds, and seconds of this machine's CPU that this process and its children took."""

    def cpu():
        usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(one.ru_utime + one.ru_stime for one in usage)

    began, busy = time.monotonic(), cpu()
    work()
    return time.monotonic() - began, cpu() - busy


class Counter:
    """A server that takes inserts and keeps nothing but their number; one process, so that its work is not the loaders'."""

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.pid = os.fork()
        if self.pid == 0:
            while True:
                client, _ = self.socket.accept()
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()
        self.url = f"mongodb://127.0.0.1:{self.socket.getsockname()[1]}/d"
        return self

    def __exit__(self, *_):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        self.socket.close()

    counts = {}

    def serve(self, client):
        import bson

        file = client.makefile("rb", buffering=1 << 20)
        while head := file.read(16):
            length, number, _, operation = struct.unpack("<iiii", head)
            body = file.read(length - 16)
            at = 5 if operation == 2013 else body.index(b"\0", 4) + 9
            size = struct.unpack_from("<i", body, at)[0]
            command = bson.decode(body[at : at + size])
            verb = next(iter(command))
            documents, at = 0, at + size
            while operation == 2013 and at < len(body):
                end = at + 1 + struct.unpack_from("<i", body, at + 1)[0]
                at = body.index(b"\0", at + 5) + 1
                while at < end:
                    documents, at = documents + 1, at + struct.unpack_from("<i", body, at)[0]
            answer = {"ok": 1.0}
            cursor = lambda batch: {"cursor": {"id": 0, "ns": "d.c", "firstBatch": batch}, "ok": 1.0}
            if verb.lower() in ("hello", "ismaster"):
                answer |= {"isWritablePrimary": True, "ismaster": True, "helloOk": True, "maxBsonObjectSize": 1 << 24, "maxMessageSizeBytes": 48000000, "maxWriteBatchSize": 100000, "minWireVersion": 0, "maxWireVersion": 21}
            elif verb == "buildInfo":
                answer |= {"version": "7.0.0"}
            elif verb in ("listCollections", "find"):
                answer = cursor([])
            elif verb == "insert":
                name = command["insert"]
                self.counts[name] = self.counts.get(name, 0) + documents
                answer |= {"n": documents}
            elif verb == "renameCollection":
                pass
            elif verb == "aggregate":
                answer = cursor([{"n": self.counts.get(command["aggregate"], 0)}])
            elif verb == "update":
                answer |= {"n": 0, "nModified": 0}
            document = bson.encode(answer)
            if operation == 2013:
                message = struct.pack("<iiiiIB", 21 + len(document), 0, number, 2013, 0, 0) + document
            else:
                message = struct.pack("<iiiiiqii", 36 + len(document), 0, number, 1, 0, 0, 0, 1) + document
            client.sendall(message)


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    servers = dict(server.split("=", 1) for server in os.environ.get("INRUSH_TEST_SERVERS", "").split())
    url = next((url for url in servers.values() if url.startswith("mongodb://")), None)
    if url is None:
        sys.exit("mongodb.py: no MongoDB in INRUSH_TEST_SERVERS; make bench-mongodb starts one")
    url = url.rstrip("/") + "/inrush_bench"
    with tempfile.TemporaryDirectory() as folder:
        ensure_pymongo(folder)
        import pymongo

        path = f"{folder}/nodes.csv"
        write_rows(path, rows)
        sides = [("pymongo", load_with_pymongo), ("inrush", load_with_inrush)]
        print(f"{rows} rows, {Path(path).stat().st_size / 1e6:.1f} MB, {pairs} pairs; insert_many by {BATCH}; pymongo {pymongo.version}")
        for place in ("server", "the wire alone"):
            counter = Counter() if place != "server" else None
            where = counter.__enter__().url if counter else url
            seconds = {name: [] for name, _ in sides}
            for pair in range(pairs):
                found = set()
                for name, load in sides if pair % 2 else sides[::-1]:
                    if not counter:
                        pymongo.MongoClient(where).get_default_database().drop_collection(name)
                    seconds[name].append(measured(lambda load=load, name=name: load(where, path, f"{name}{pair}" if counter else name)))
                    if not counter:
                        found.add(contents(where, name))
                if len(found) > 1 or any(count != rows for count, _ in found):
                    sys.exit(f"the collections differ: {found}")
            if counter:
                counter.__exit__()
            for name, _ in sides:
                wall, cpu = zip(*seconds[name])
                print(f"  {place}: {name:8} {statistics.median(wall):7.2f} s, {statistics.median(cpu):6.2f} s of CPU, {rows / statistics.median(wall):10,.0f} rows/s")
            ratios = [theirs[0] / ours[0] for theirs, ours in zip(seconds["pymongo"], seconds["inrush"])]
            busy = [theirs[1] / max(ours[1], 1e-3) for theirs, ours in zip(seconds["pymongo"], seconds["inrush"])]
            print(f"  {place}: {statistics.median(ratios):.2f} times as fast (pairs: {', '.join(f'{ratio:.2f}' for ratio in ratios)}), a {statistics.median(busy):.1f}th of the client's CPU")
        pymongo.MongoClient(url).drop_database("inrush_bench")


if __name__ == "__main__":
    main()
