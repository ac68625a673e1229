#!/usr/bin/env python3
"""Rows shaped like a table of map nodes: nodes.py ROWS [--quoted] > nodes.tsv

Columns: id, lat, lon, version, timestamp, changeset, uid, user. Ids ascend with gaps, coordinates have seven
decimals, a few users own most rows, some names are not ASCII. The same ROWS always give the same bytes.

Without --quoted: tab-separated, no header, no field that would need quotes; about 76 bytes a row.
With --quoted: CSV with a header and every text field in quotes; one row in nine has a user name that holds
the delimiter, doubled quotes, or a line break (LF or CRLF).
"""

import argparse
import os
import random
import sys
from array import array

SEED = 20141008
BLOCK_ROWS = 65536
ID_FIRST = 171_772
COLUMNS = ["id", "lat", "lon", "version", "timestamp", "changeset", "uid", "user"]

USERS = {
    "rubensd": 30, "j3m": 20, "sergionaranja": 12, "Xapitoun": 9, "Ivan Garcia": 8, "maria_lopez": 6,
    "osm-import-bot": 5, "afernandez": 4, "gpesquero": 3, "P\u00e9p\u00e9": 1,
    "\u0410\u043b\u0435\u043a\u0441\u0435\u0439": 1, "O'Brien \"Bob\"": 1,
}
# What only quotes can carry. Together a ninth of the rows.
USERS_QUOTED = USERS | {
    "Garcia, Ivan": 4, "a \"mapper\", they say": 3, "two\nlines": 2, "crlf\r\ninside": 1, "\"\"": 1,
    ",\n\",\"": 1, "": 0.5,
}

DATES = [f"{2006 + year}-{1 + month:02d}-{1 + day:02d}"
         for year in range(8) for month in range(12) for day in range(28)]
MINUTES = [f"{hour:02d}:{minute:02d}:" for hour in range(24) for minute in range(60)]
SECONDS = [f"{second:02d}" for second in range(60)]


def text(value: str, quoted: bool) -> str:
    return '"' + value.replace('"', '""') + '"' if quoted else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, metavar="ROWS")
    parser.add_argument("--quoted", action="store_true", help="CSV with header, quoted text fields, hard ones among them")
    args = parser.parse_args()

    rng = random.Random(SEED)
    users = USERS_QUOTED if args.quoted else USERS
    names = [text(name, args.quoted) for name in rng.choices(list(users), list(users.values()), k=4096)]
    dates = ['"' + date for date in DATES] if args.quoted else DATES
    seconds = [second + '"' for second in SECONDS] if args.quoted else SECONDS
    tab = "," if args.quoted else "\t"

    out = sys.stdout.buffer
    if args.quoted:
        out.write((tab.join(COLUMNS) + "\n").encode())
    node = ID_FIRST
    for start in range(0, args.rows, BLOCK_ROWS):
        # One random word a row, drawn by the block: a call a row would be a quarter of the time.
        words = array("Q", rng.randbytes(8 * min(BLOCK_ROWS, args.rows - start)))
        if sys.byteorder == "big":
            words.byteswap()
        lines = []
        for r in words:
            node += 1 + r % 40
            lat = str(36_0000000 + (r >> 8) % 7_9999999)
            lon = (r >> 20) % 12_9999999 - 9_0000000
            east = f"{lon:08d}" if lon >= 0 else f"{lon:09d}"
            date = dates[(r >> 4) % 8 * 336 + (r >> 7) % 12 * 28 + (r >> 11) % 28]
            minute = MINUTES[(r >> 16) % 24 * 60 + (r >> 21) % 60]
            lines.append(
                f"{node}{tab}{lat[:2]}.{lat[2:]}{tab}{east[:-7]}.{east[-7:]}{tab}{1 + r % 9}"
                f"{tab}{date} {minute}{seconds[(r >> 27) % 60]}"
                f"{tab}{600000 + (r >> 30) % 12000000}{tab}{1000 + (r >> 40) % 500000}{tab}{names[(r >> 52) % 4096]}\n")
        out.write("".join(lines).encode())
    out.flush()


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        # `nodes.py 5000000 | head` is no error; without this the exit would print one.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
