"""Targets: one fixture, `place`, that is each of them in turn, and reads back what is there by a driver of its own."""

import base64
import csv
import datetime as dt
import decimal
import itertools
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import urllib.parse
import uuid
import zlib

import pytest

import inrush

ROOT = pathlib.Path(__file__).resolve().parents[2]

SERVERS = "INRUSH_TEST_SERVERS"

#: What DuckDB's targets need; see docs/duckdb.md.
LIBRARY = os.environ.get("INRUSH_DUCKDB_LIB") or ROOT / "target" / "servers" / "duckdb-1.5" / "libduckdb.so"

#: No test goes by what was measured on this machine.
os.environ["XDG_CONFIG_HOME"] = os.devnull

#: Whether all is tested, as `make test-all` does; else what repeats one check is tested in some of its ways.
ALL = os.environ.get("INRUSH_TEST_ALL", "") not in ("", "0")
slow = pytest.mark.skipif(not ALL, reason="`make test-all` runs it: INRUSH_TEST_ALL=1")

_COUNT = itertools.count()


class Place:
    """A target for one test: a table of its own."""

    #: Whether `primary_key` means anything there.
    has_keys = True
    #: Whether a column has a type that is looked at.
    has_types = True

    table = "t"

    def __init__(self, folder):
        self.folder = folder

    def write(self, rows, **options):
        return inrush.write(rows, self.url, **{"table": self.table, "progress": False, **options})

    def writer(self, **options):
        return inrush.Writer(self.url, **{"table": self.table, "progress": False, **options})

    def values(self, column):
        """The values of a column, in the order of the rows."""
        names, rows = self.read()
        at = names.index(column)
        return [row[at] for row in rows]

    def count(self):
        """How many rows there are; None where there is no table."""
        return len(self.read()[1]) if self.exists() else None

    def close(self):
        pass


class Sqlite(Place):
    @property
    def url(self):
        return str(self.folder / "own.db")

    def connect(self):
        return sqlite3.connect(self.url)

    def execute(self, sql):
        with self.connect() as connection:
            connection.execute(sql)
        connection.close()

    def exists(self):
        if not os.path.exists(self.url):
            return False
        connection = self.connect()
        found = connection.execute("select 1 from sqlite_master where name = ?", [self.table]).fetchone()
        connection.close()
        return found is not None

    def read(self):
        connection = self.connect()
        answer = connection.execute(f'select * from "{self.table}" order by rowid')
        names, rows = [column[0] for column in answer.description], answer.fetchall()
        connection.close()
        return names, rows


class Duckdb(Place):
    @property
    def url(self):
        return str(self.folder / "own.duckdb")

    def connect(self):
        duckdb = pytest.importorskip("duckdb")
        return duckdb.connect(self.url)

    def execute(self, sql):
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect() as connection:
            # As inrush makes them: the package may be newer than the library.
            connection.execute(f"attach '{self.url}' as own (storage_version 'v1.0.0')")
            connection.execute("use own")
            connection.execute(sql)

    def exists(self):
        if not os.path.exists(self.url):
            return False
        with self.connect() as connection:
            return connection.execute("select 1 from duckdb_tables() where table_name = ?", [self.table]).fetchone() is not None

    def read(self):
        with self.connect() as connection:
            connection.execute("set timezone = 'UTC'")
            # By Arrow, for DuckDB's own way to moments with a zone wants pytz.
            table = connection.sql(f'select * from "{self.table}" order by rowid').to_arrow_table()
        return table.column_names, rows_of(table)


class File(Place):
    has_keys = False

    @property
    def path(self):
        return self.folder / f"own.{self.kind}"

    @property
    def url(self):
        return f"{self.kind}:{self.path}"

    def exists(self):
        return self.path.exists()


class Csv(File):
    kind = "csv"
    has_types = False

    def read(self):
        # Python's reader does not say what stood in quotes, and NULL is what did not.
        with open(self.path, newline="", encoding="utf-8", errors="surrogateescape") as file:
            lines = list(csv.reader(file))
        return lines[0], [tuple(None if value == "" else value for value in line) or (None,) for line in lines[1:]]


class Jsonl(File):
    kind = "jsonl"

    def read(self):
        lines = [json.loads(line, parse_float=decimal.Decimal) for line in self.path.read_text().splitlines()]
        names = list(lines[0]) if lines else []
        return names, [tuple(line.values()) for line in lines]


class Parquet(File):
    kind = "parquet"

    def read(self):
        parquet = pytest.importorskip("pyarrow.parquet")
        table = parquet.read_table(self.path)
        return table.column_names, rows_of(table)


def rows_of(table):
    return list(zip(*(exact(table.column(at)) for at in range(table.num_columns))))


def exact(column):
    """A column of PyArrow as values of Python; moments of nanoseconds as texts, for Python's have none."""
    import pyarrow

    if pyarrow.types.is_timestamp(column.type) and column.type.unit == "ns":
        numbers = column.cast(pyarrow.int64()).to_pylist()
        zone = "+00:00" if column.type.tz else ""
        return [None if number is None else nanoseconds(number) + zone for number in numbers]
    return column.to_pylist()


def nanoseconds(number):
    seconds, fraction = divmod(number, 10**9)
    return str(dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds)) + f".{fraction:09}"


class Server(Place):
    #: What its URL begins with.
    scheme = None

    def __init__(self, folder, base, database):
        super().__init__(folder)
        self.base, self.database = base, database
        self.table = f"t{next(_COUNT)}"

    @property
    def url(self):
        return with_database(self.base, self.database)

    def write(self, rows, **options):
        # Over one connection rows come in their order.
        return super().write(rows, **{"lanes": 1, **options})

    def writer(self, **options):
        return super().writer(**{"lanes": 1, **options})


def with_database(url, database):
    return urllib.parse.urlsplit(url)._replace(path=f"/{database}").geturl()


class Postgres(Server):
    scheme = "postgres"

    @staticmethod
    def connect_to(url):
        psycopg = pytest.importorskip("psycopg")
        return psycopg.connect(url, autocommit=True)

    @classmethod
    def create(cls, base, database):
        with cls.connect_to(base) as connection:
            connection.execute(f"create database {database}")

    @classmethod
    def drop(cls, base, database):
        with cls.connect_to(base) as connection:
            connection.execute(f"drop database {database} with (force)")

    def connect(self):
        return self.connect_to(self.url)

    def execute(self, sql):
        with self.connect() as connection:
            connection.execute(sql)

    def exists(self):
        with self.connect() as connection:
            return connection.execute("select to_regclass(%s)", [self.table]).fetchone()[0] is not None

    def read(self):
        with self.connect() as connection:
            connection.execute("set timezone = 'UTC'")
            # JSON as it is written, and moments that Python has no room for.
            connection.adapters.register_loader("json", _text_loader())
            answer = connection.execute(f'select * from "{self.table}" order by ctid')
            return [column.name for column in answer.description], answer.fetchall()


def _text_loader():
    from psycopg.types.string import TextLoader

    return TextLoader


class Mysql(Server):
    scheme = "mysql"

    @staticmethod
    def connect_to(url):
        pymysql = pytest.importorskip("pymysql")
        said = urllib.parse.urlsplit(url)
        options = dict(urllib.parse.parse_qsl(said.query))
        database = said.path.strip("/") or None
        return pymysql.connect(
            user=said.username,
            password=said.password or "",
            unix_socket=options["socket"],
            database=database,
            autocommit=True,
            # Else each connection reads all certificates of the machine.
            ssl_disabled=True,
        )

    @classmethod
    def create(cls, base, database):
        connection = cls.connect_to(base)
        connection.cursor().execute(f"create database {database}")
        connection.close()

    @classmethod
    def drop(cls, base, database):
        connection = cls.connect_to(base)
        connection.cursor().execute(f"drop database {database}")
        connection.close()

    def connect(self):
        return self.connect_to(self.url)

    def ask(self, sql):
        connection = self.connect()
        cursor = connection.cursor()
        cursor.execute(sql)
        names, rows = [column[0] for column in cursor.description or []], list(cursor.fetchall())
        connection.close()
        return names, rows

    def execute(self, sql):
        self.ask(sql)

    def exists(self):
        return bool(self.ask(f"show tables like '{self.table}'")[1])

    def read(self):
        return self.ask(f"select * from `{self.table}`")


class Mongodb(Server):
    scheme = "mongodb"

    @staticmethod
    def connect_to(url):
        pymongo = pytest.importorskip("pymongo")
        return pymongo.MongoClient(url, tz_aware=True)

    @classmethod
    def create(cls, base, database):
        pass

    @classmethod
    def drop(cls, base, database):
        with cls.connect_to(base) as client:
            client.drop_database(database)

    def exists(self):
        with self.connect_to(self.url) as client:
            return self.table in client[self.database].list_collection_names()

    def read(self):
        with self.connect_to(self.url) as client:
            documents = list(client[self.database][self.table].find())
        names = [name for name in documents[0] if name != "_id"] if documents else []
        return names, [tuple(document[name] for name in names) for document in documents]


FILES = {"sqlite": Sqlite, "duckdb": Duckdb, "csv": Csv, "jsonl": Jsonl, "parquet": Parquet}
FAMILIES = {"mysql": Mysql, "postgres": Postgres, "mongodb": Mongodb}
#: The servers that the suite wants.
WANTED = {"mariadb": Mysql, "mysql": Mysql, "postgres": Postgres, "ferretdb": Mongodb}


def servers():
    """Name and URL of each server that there is."""
    said = (one.partition("=") for one in os.environ.get(SERVERS, "").split())
    return {name: url for name, _, url in said}


def kinds():
    there = servers()
    missing = [kind for kind in WANTED if not any(name.startswith(kind) for name in there)]
    return [*FILES, *there, *missing]


#: Fixtures that are each of several targets in turn.
TARGETS = ("place", "database", "home")


def pytest_collection_modifyitems(config, items):
    """Unless all is tested: every value that a test is given, and every target, but not each of them with each."""
    if ALL:
        return
    tests = {}
    for item in items:
        if hasattr(item, "callspec") and not set(TARGETS).isdisjoint(item.callspec.params):
            tests.setdefault((item.path, item.originalname), []).append(item)
    left_out = {item for test in tests.values() for item in set(test) - some(test)}
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))


def some(test):
    """Those of a test's items that are enough, always the same."""
    given = {item: values_of(item) for item in test}
    families = {}
    for target, _ in given.values():
        # MariaDB and MySQL run the same code of jobs.
        name = target[1].split("-")[0]
        family = "mysql" if target[0] == "home" and name == "mariadb" else name
        if target not in families.setdefault(family, []):
            families[family].append(target)
    by_chance = zlib.crc32(test[0].originalname.encode())
    targets = [of[by_chance % len(of)] for of in families.values()]
    values = list(dict.fromkeys(values for _, values in given.values()))
    every = min(len(targets), len(values))
    return {
        item
        for item, (target, of) in given.items()
        if target in targets and (targets.index(target) + values.index(of) + by_chance) % every == 0
    }


def values_of(item):
    """The target of an item, and which of the other values it is given."""
    (target,) = (name for name in TARGETS if name in item.callspec.params)
    others = sorted((name, number) for name, number in item.callspec.indices.items() if name != target)
    return (target, item.callspec.params[target]), tuple(others)


@pytest.fixture(scope="session")
def databases():
    """A database on each server, for the whole run."""
    made = {}

    def of(name):
        base = servers()[name]
        family = FAMILIES[urllib.parse.urlsplit(base).scheme]
        if name not in made:
            made[name] = (family, base, f"inrush_python_{os.getpid()}")
            family.create(*made[name][1:])
        return made[name]

    yield of
    for family, base, database in made.values():
        family.drop(base, database)


def make_place(kind, folder, databases):
    if kind in FILES:
        if kind == "duckdb" and not os.path.exists(LIBRARY):
            pytest.skip(f"no DuckDB library: scripts/servers.sh duckdb-1.5 fetches one, or set INRUSH_DUCKDB_LIB (looked for {LIBRARY})")
        return FILES[kind](folder)
    if kind not in servers():
        pytest.skip(f"no {kind} server: `make test` starts one, or set {SERVERS} to NAME=URL")
    family, base, database = databases(kind)
    return family(folder, base, database)


@pytest.fixture(params=kinds())
def place(request, tmp_path, databases):
    """Each target in turn."""
    return make_place(request.param, tmp_path, databases)


@pytest.fixture(params=["sqlite", "duckdb", *[kind for kind in kinds() if not kind.startswith("ferretdb") and kind not in FILES]])
def database(request, tmp_path, databases):
    """Each target that has SQL."""
    return make_place(request.param, tmp_path, databases)


@pytest.fixture
def sqlite(tmp_path):
    return Sqlite(tmp_path)


@pytest.fixture(autouse=True, scope="session")
def duckdb_library():
    if os.path.exists(LIBRARY):
        os.environ["INRUSH_DUCKDB_LIB"] = str(LIBRARY)


@pytest.fixture(autouse=True)
def no_leftovers(tmp_path):
    """What a load makes for itself is gone with it."""
    yield
    assert [path.name for path in tmp_path.iterdir() if ".inrush-" in path.name] == []


def run(code, *arguments, folder=None, timeout=60, **options):
    """A program of its own, until it ends."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=folder,
        **options,
    )


def start(code, *arguments, **options):
    """A program of its own, under way."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def same(got, want):
    """Whether a driver's value is `want`, in whatever type the target keeps it: nothing lost, nothing shifted."""
    if want is None or got is None:
        return got is None and want is None
    if isinstance(want, bool):
        return got in (True, False, "true", "false") and want == (got if isinstance(got, (bool, int)) else got == "true")
    if isinstance(want, int):
        return not isinstance(got, float) and decimal.Decimal(str(got)) == want
    if isinstance(want, float):
        return float(got) == want or (want != want and float(got) != float(got))
    if isinstance(want, decimal.Decimal):
        return not isinstance(got, float) and decimal.Decimal(str(got)) == want
    if isinstance(want, bytes):
        if isinstance(got, str):
            got = base64.b64decode(got) if want != got.encode("utf-8", "surrogateescape") else want
        return bytes(got) == want
    if isinstance(want, dt.datetime):
        if isinstance(got, str):
            got = dt.datetime.fromisoformat(got.replace("Z", "+00:00"))
        if want.tzinfo:
            # Where the target keeps no zone, it is UTC.
            return (got if got.tzinfo else got.replace(tzinfo=dt.timezone.utc)) == want
        return got.replace(tzinfo=None) == want
    if isinstance(want, dt.date):
        if isinstance(got, str):
            return dt.date.fromisoformat(got) == want
        return got == want if type(got) is dt.date else got.replace(tzinfo=None) == dt.datetime(want.year, want.month, want.day)
    if isinstance(want, dt.time):
        if isinstance(got, dt.timedelta):
            # What MySQL's driver makes of a time of day.
            return (dt.datetime.min + got).time() == want
        return (dt.time.fromisoformat(got) if isinstance(got, str) else got) == want
    if isinstance(got, dt.timedelta) and isinstance(want, str):
        want = from_iso(want)
    if isinstance(want, dt.timedelta):
        return got == want if isinstance(got, dt.timedelta) else from_iso(got) == want
    if isinstance(want, uuid.UUID):
        return uuid.UUID(str(got)) == want
    if isinstance(want, (dict, list)):
        return (json.loads(got) if isinstance(got, str) else got) == want
    return got == want


def from_iso(text):
    """A duration of ISO 8601, in the forms that inrush writes."""
    assert text.startswith("PT") and text.endswith("S"), text
    return dt.timedelta(microseconds=int(decimal.Decimal(text[2:-1]) * 10**6))


def assert_same(got, want):
    assert len(got) == len(want), (got, want)
    for place, (one, other) in enumerate(zip(got, want)):
        assert same(one, other), (place, one, other)
