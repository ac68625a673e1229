"""compare.py CSV DATABASE TABLE [NULL]: exits 1 unless the table is, row by row and value by value, what Python's csv module
reads. Text has to be the same text, numbers the same numbers: integers exactly, doubles as Python reads their digits."""

import csv
import gzip
import sqlite3
import sys
from itertools import zip_longest


def same(text, value, null):
    if value is None:
        return text == "" or text == null
    if isinstance(value, str):
        return text == value and text != null
    if isinstance(value, int):
        return text == str(value)
    return isinstance(value, float) and float(text) == value


path, database, table = sys.argv[1:4]
null = sys.argv[4] if len(sys.argv) > 4 else None
opened = gzip.open if path.endswith(".gz") else open
rows = 0
with opened(path, "rt", encoding="utf-8", newline="") as file:
    records = csv.reader(file)
    header = next(records)
    stored = sqlite3.connect(database).execute(f'SELECT * FROM "{table}" ORDER BY rowid')
    names = [column[0] for column in stored.description]
    if names != header:
        sys.exit(f"columns: {header} became {names}")
    for number, (record, row) in enumerate(zip_longest(records, stored), start=1):
        if record is None or row is None or len(record) != len(row):
            sys.exit(f"record {number}: {record} became {row}")
        for name, text, value in zip(names, record, row):
            if not same(text, value, null):
                sys.exit(f"record {number}, column {name}: {text!r} became {value!r}")
        rows = number
print(rows)
