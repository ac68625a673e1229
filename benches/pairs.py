"""What the benches share: one timed run, and the figures of several pairs of them."""

import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TICKS = os.sysconf("SC_CLK_TCK")


def target() -> Path:
    """Where cargo puts what it builds."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def binary() -> str:
    """The command as it is published (the `dist` profile), or what INRUSH names."""
    path = os.environ.get("INRUSH", str(target() / "dist" / "inrush"))
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there; build it with `make build`, or name it in INRUSH")
    return os.path.abspath(path)


def nodes(path: Path, rows: int, *options: str) -> None:
    """Writes the nodes table, tab-separated."""
    with open(path, "wb") as out:
        subprocess.run([sys.executable, str(ROOT / "benches" / "nodes.py"), str(rows), *options], stdout=out, check=True)


def as_csv(tsv: Path, path: Path, rows: int) -> None:
    """The first rows of a tab-separated file as CSV, all quoted, under a header."""
    with open(tsv) as lines, open(path, "w") as csv:
        csv.write(",".join(f"column_{n}" for n in range(1, 9)) + "\n")
        for _ in range(rows):
            csv.write('"' + lines.readline().rstrip("\n").replace('"', '""').replace("\t", '","') + '"\n')


def cpu(pid: int) -> float:
    """CPU seconds of a process and of those children that it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(int(field) for field in fields[11:15]) / TICKS


def timed(command: list[str], cwd: Path | None = None, script: str = "", env: dict | None = None,
          server_cpu=None, codes: tuple[int, ...] = (0,)) -> dict:
    """Runs one command to its end. Seconds are wall time; CPU and memory are the child's own, from wait4; the server's CPU is
    what `server_cpu` grew by meanwhile."""
    with tempfile.NamedTemporaryFile() as output, tempfile.NamedTemporaryFile("w+") as given:
        given.write(script)
        given.flush()
        before = server_cpu() if server_cpu else 0
        one = {"command": [str(word) for word in command], "cwd": str(cwd or Path.cwd()), "given": given.name,
               "output": output.name, "env": {**os.environ, **(env or {})}}
        starter = small_process()
        starter.stdin.write(json.dumps(one) + "\n")
        starter.stdin.flush()
        done = json.loads(starter.stdout.readline())
        code = done.pop("code")
        if code not in codes:
            sys.stdout.write(output.read().decode(errors="replace"))
            sys.exit(f"exit code {code} from: {' '.join(one['command'])}")
    return {**done, "server": server_cpu() - before if server_cpu else 0}


@functools.cache
def small_process() -> subprocess.Popen:
    """Who starts what is timed. The kernel counts the memory of a process from that of its parent at the start, and a bench that has
    compared two tables is large."""
    return subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def start_them() -> None:
    """The small process: runs one command after the other."""
    unit = 1 if sys.platform == "darwin" else 1024
    for line in sys.stdin:
        one = json.loads(line)
        with open(one["given"]) as given, open(one["output"], "wb") as output:
            start = time.perf_counter()
            child = subprocess.Popen(one["command"], cwd=one["cwd"], stdin=given, stdout=output, stderr=subprocess.STDOUT, env=one["env"])
            _, status, used = os.wait4(child.pid, 0)
            seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)  # else it would be waited for once more
        done = {"code": child.returncode, "s": seconds, "cpu": used.ru_utime + used.ru_stime, "mb": used.ru_maxrss * unit / (1 << 20)}
        print(json.dumps(done), flush=True)


def figures(runs: list[tuple[dict, dict]], wanted: float, more_is_worse: bool = False) -> str:
    """Medians of both sides, and of the ratios within each pair, with their spread."""
    ratios = [a["s"] / b["s"] if more_is_worse else b["s"] / a["s"] for a, b in runs]
    a, b = (statistics.median(run[side]["s"] for run in runs) for side in (0, 1))
    what, bound = ("A / B", "at most") if more_is_worse else ("B / A", "at least")
    return (f"A {a:6.2f} s   B {b:6.2f} s   {what} {statistics.median(ratios):5.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            f"   wanted {bound} {wanted:g}")


def keep(engine: str, case: str, runs: list[tuple[dict, dict]]) -> None:
    """Adds the samples of a case to the file that SAMPLES names: what `make bench-picture` draws from."""
    if path := os.environ.get("SAMPLES"):
        seconds = [[round(run["s"], 4) for run in side] for side in zip(*runs, strict=True)]
        with open(path, "a") as out:
            out.write(json.dumps({"engine": engine, "case": case, "inrush_s": seconds[0], "rival_s": seconds[1]}) + "\n")


def peak(runs: list[tuple[dict, dict]]) -> str:
    return f"peak memory {max(a['mb'] for a, _ in runs):.0f} MB"


def share(runs: list[tuple[dict, dict]]) -> str:
    """What the client takes of the machine, for each second of the server's."""
    return f"client / server CPU {statistics.median(a['cpu'] / a['server'] for a, _ in runs):.1%}"


if __name__ == "__main__":
    start_them()
