"""A program that has rows, and writes them into a table by one of the ways that Python programs have. `inrush bench` runs it.

    rows.py look MODULE ...                              says their versions, or why they can't be had
    rows.py WAY FILE COLUMNS TABLE URL [NAME=VALUE ...]  writes the rows of a tab-separated file

It reads the file, says "ready", waits for a line, writes the rows, and says "done": what lies between is timed. COLUMNS are names and types,
"id bigint, amount decimal(9,2)"; the table is there and empty. URL is what the way's library takes; what follows are options of its call.
"""

import csv
import os
import sys
from collections import namedtuple
from datetime import date, datetime
from decimal import Decimal
from importlib import import_module, metadata
from platform import python_version
from urllib.parse import parse_qsl, urlsplit

Column = namedtuple("Column", "name type size")


def columns_of(text):
    """Of each column its name, the type's name, and the numbers in parentheses."""
    for one in text.split(", "):
        name, _, words = one.partition(" ")
        kind, _, size = words.rstrip(")").partition("(")
        yield Column(name, kind, [int(number) for number in size.split(",") if number])


def look(*modules):
    try:
        print(", ".join([f"Python {python_version()}", *(f"{name} {version(name)}" for name in modules)]))
    except Exception as error:  # An extension that can't be loaded has errors of its own.
        sys.exit(f"{error} (INRUSH_PYTHON may name a Python that has it)")


def version(name):
    module = import_module(name)
    return getattr(module, "sqlite_version", None) or getattr(module, "__version__", None) or metadata.version(name)


# The rows, in the forms in which programs have them.


def tuples(file, columns):
    integers = dict.fromkeys(["smallint", "int", "bigint"], int)
    types = {**integers, "decimal": Decimal, "date": date.fromisoformat, "timestamp": datetime.fromisoformat}
    values = [types.get(column.type, str) for column in columns]
    with open(file, encoding="utf-8", newline="\n") as lines:
        return [tuple(value(text) for value, text in zip(values, line.rstrip("\n").split("\t"))) for line in lines]


def pandas_frame(file, columns):
    import pandas

    types = {"smallint": "int16", "int": "int32", "bigint": "int64", "decimal": "float64"}
    dates = [column.name for column in columns if column.type in ("date", "timestamp")]
    return pandas.read_csv(
        file, sep="\t", header=None, names=[column.name for column in columns], quoting=csv.QUOTE_NONE, keep_default_na=False,
        dtype={column.name: types.get(column.type, "str") for column in columns if column.name not in dates}, parse_dates=dates,
    )


def polars_frame(file, columns):
    import polars

    types = {"smallint": polars.Int16, "int": polars.Int32, "bigint": polars.Int64}
    read = polars.read_csv(
        file, separator="\t", has_header=False, new_columns=[column.name for column in columns], quote_char=None,
        schema_overrides=[types.get(column.type, polars.String) for column in columns],
    )

    def typed(column):
        values = polars.col(column.name)
        match column.type:
            case "decimal":
                return values.cast(polars.Decimal(*column.size))
            case "date":
                return values.str.to_date("%Y-%m-%d")
            case "timestamp":
                return values.str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="us")
        return values

    return read.with_columns(typed(column) for column in columns)


def arrow_table(file, columns):
    import pyarrow
    from pyarrow import csv as reader

    types = {
        "smallint": lambda: pyarrow.int16(), "int": lambda: pyarrow.int32(), "bigint": lambda: pyarrow.int64(),
        "decimal": pyarrow.decimal128, "date": lambda: pyarrow.date32(), "timestamp": lambda: pyarrow.timestamp("us"),
    }
    return reader.read_csv(
        file, reader.ReadOptions(column_names=[column.name for column in columns]),
        reader.ParseOptions(delimiter="\t", quote_char=False),
        reader.ConvertOptions(column_types={
            column.name: types[column.type](*column.size) if column.type in types else pyarrow.string() for column in columns
        }),
    )


# The ways: each makes the rows, and gives what writes them, from the connection to the commit.


def inrush_insert(file, columns, table, url, **options):
    import inrush

    rows = tuples(file, columns)

    def write():
        with inrush.Writer(url, table=table, columns=[column.name for column in columns], **OURS, **options) as writer:
            insert = writer.insert
            for row in rows:
                insert(row)

    return write


def inrush_tuples(file, columns, table, url, **options):
    import inrush

    rows = tuples(file, columns)
    return lambda: inrush.write(rows, url, table=table, columns=[column.name for column in columns], **OURS, **options)


def inrush_frame(file, columns, table, url, **options):
    import inrush

    frame = polars_frame(file, columns)
    return lambda: inrush.write(frame, url, table=table, **OURS, **options)


# The others don't count the table's rows either.
OURS = {"if_exists": "append", "verify": "none", "progress": False}


def pandas(file, columns, table, url, **options):
    from sqlalchemy import create_engine

    frame, engine = pandas_frame(file, columns), create_engine(url)

    def write():
        with engine.begin() as connection:
            frame.to_sql(table, connection, if_exists="append", index=False, **options)

    return write


def polars(file, columns, table, url, engine):
    # What it would import when it is called.
    for name in [adbc_driver(url), "pyarrow"] if engine == "adbc" else ["pandas", "pyarrow", "sqlalchemy"]:
        import_module(name)
    frame = polars_frame(file, columns)
    return lambda: frame.write_database(table, url, if_table_exists="append", engine=engine)


def adbc_driver(url):
    return "adbc_driver_postgresql.dbapi" if url.startswith("postgres") else "adbc_driver_sqlite.dbapi"


def adbc(file, columns, table, url, **options):
    driver, rows = import_module(adbc_driver(url)), arrow_table(file, columns)

    def write():
        with driver.connect(url) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(table, rows, mode="append", **options)
            connection.commit()

    return write


def psycopg(file, columns, table, url):
    from psycopg import connect

    rows = tuples(file, columns)

    def write():
        with connect(url) as connection, connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    return write


def mysqlclient(file, columns, table, url):
    from MySQLdb import connect

    rows, parts = tuples(file, columns), urlsplit(url)
    insert = f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(columns))})"

    def write():
        connection = connect(user=parts.username, database=parts.path[1:], **dict(parse_qsl(parts.query)))
        connection.cursor().executemany(insert, rows)
        connection.commit()
        connection.close()

    return write


def sqlite3(file, columns, table, url):
    from sqlite3 import connect

    rows = tuples(file, columns)
    insert = f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})"

    def write():
        connection = connect(url)
        connection.executemany(insert, rows)
        connection.commit()
        connection.close()

    return write


def duckdb(file, columns, table, url):
    from duckdb import connect

    rows = arrow_table(file, columns)

    def write():
        with connect(url) as connection:
            connection.register("rows_of_arrow", rows)
            connection.execute(f"INSERT INTO {table} FROM rows_of_arrow")

    return write


WAYS = [inrush_insert, inrush_tuples, inrush_frame, pandas, polars, adbc, psycopg, mysqlclient, sqlite3, duckdb]


def run(way, file, columns, table, url, *options):
    make = {way.__name__: way for way in WAYS}[way]
    pairs = (option.split("=", 1) for option in options)
    options = {name: int(value) if value.isdigit() else value for name, value in pairs}
    write = make(file, list(columns_of(columns)), table, url, **options)
    print("ready", flush=True)
    if sys.stdin.readline():
        write()
        print("done", flush=True)
        # Nothing is left but to tear down, which is not what is measured.
        os._exit(0)


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    look(*rest) if what == "look" else run(what, *rest)
