#!/usr/bin/env python3
"""Draws docs/speed.svg from benches/samples.jsonl: each engine's own loader beside inrush, by the pairs that were measured.

A line of the samples is a case that a bench has kept (SAMPLES=FILE benches/sqlite.py ...): seconds of both sides, pair by pair, after
both tables were compared. A bar is as long as the median of the ratios within pairs; the whisker spans all of them.
"""

import json
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "benches" / "samples.jsonl"
PICTURE = ROOT / "docs" / "speed.svg"

# What is shown, in this order: the engine and the case of the samples, and what the reader calls them.
SHOWN = [
    ("SQLite", "new", "SQLite, new database", ".import, journal and sync off"),
    ("SQLite", "existing", "SQLite, existing table", ".import, journal and sync off"),
    ("postgres-15", "new", "PostgreSQL 15, new table", "\\copy"),
    ("postgres-15", "existing", "PostgreSQL 15, existing table", "\\copy"),
    ("mariadb-10.11", "import", "MariaDB 10.11, new table", "mariadb-import --local"),
    ("mysql-8.0", "import", "MySQL 8.0, new table", "mariadb-import --local"),
    ("DuckDB", "new", "DuckDB, new database", "read_csv"),
    ("Parquet", "zstd", "Parquet file, zstd", "DuckDB's COPY"),
]

STYLE = """
    .ink { fill: #1c1f24 } .soft { fill: #5b6470 } .bar { fill: #2463b8 } .one { stroke: #8a929e } .whisker { stroke: #1c1f24 }
    text { font: 13px system-ui, sans-serif } .small { font-size: 11px } .strong { font-weight: 600 }
    @media (prefers-color-scheme: dark) {
      .ink { fill: #e8eaed } .soft { fill: #9aa4b2 } .bar { fill: #6ea8f7 } .one { stroke: #6c7684 } .whisker { stroke: #e8eaed }
    }
"""
WIDTH, LEFT, RIGHT, ROW, TOP = 760, 232, 92, 40, 46


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def ratios(sample: dict) -> list[float]:
    return [rival / ours for ours, rival in zip(sample["inrush_s"], sample["rival_s"], strict=True)]


def draw(samples: list[dict]) -> str:
    # Of several runs of a case the last one counts.
    found = {(sample["engine"], sample["case"]): sample for sample in samples}
    rows = [(label, rival, ratios(found[engine, case])) for engine, case, label, rival in SHOWN if (engine, case) in found]
    if not rows:
        sys.exit(f"{SAMPLES} has none of the cases that are shown")
    most = max(max(values) for _, _, values in rows)
    scale = (WIDTH - LEFT - RIGHT) / most
    height = TOP + ROW * len(rows) + 18
    one = LEFT + scale
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="t">',
        '<title id="t">How many times as fast as the engine\'s own loader inrush is</title>',
        f"<style>{STYLE}</style>",
        f'<text x="0" y="18" class="ink strong">Times as fast as the engine\'s own loader</text>',
        f'<text x="0" y="35" class="soft small">medians of pairs, spans of all pairs; two cores; both tables compared</text>',
        f'<line x1="{one:.1f}" x2="{one:.1f}" y1="{TOP}" y2="{height - 14}" class="one" stroke-dasharray="3 3"/>',
        f'<text x="{one:.1f}" y="{height - 2}" class="soft small" text-anchor="middle">1</text>',
    ]
    for n, (label, rival, values) in enumerate(rows):
        y = TOP + ROW * n
        median, low, high = statistics.median(values), min(values), max(values)
        parts += [
            f'<text x="0" y="{y + 17}" class="ink">{escaped(label)}</text>',
            f'<text x="0" y="{y + 31}" class="soft small">against {escaped(rival)}</text>',
            f'<rect x="{LEFT}" y="{y + 8}" width="{median * scale:.1f}" height="18" rx="2" class="bar"/>',
            f'<line x1="{LEFT + low * scale:.1f}" x2="{LEFT + high * scale:.1f}" y1="{y + 17}" y2="{y + 17}" class="whisker"/>',
            f'<text x="{LEFT + high * scale + 8:.1f}" y="{y + 22}" class="ink strong">{median:.1f}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    samples = [json.loads(line) for line in SAMPLES.read_text().splitlines() if line]
    PICTURE.write_text(draw(samples))
    print(PICTURE.relative_to(ROOT))


if __name__ == "__main__":
    main()
