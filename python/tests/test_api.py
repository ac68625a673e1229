"""Errors, reports, plans, and what programs see of a load."""

import concurrent.futures
import copy
import gzip
import json
import os
import pathlib
import pickle
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import zipfile

import pytest
from conftest import ROOT, Duckdb, kinds, make_place, run, start

import inrush

ROWS = [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Grace"}]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,name\n1,Ada\n2,Grace\n")
    return path


def test_load(sqlite, source):
    for sources in (source, str(source), [source], [str(source), source]):
        report = inrush.load(sources, sqlite.url, table="t", if_exists="replace", progress=False)
        assert report.rows_loaded == 2
    assert sqlite.read() == (["id", "name"], [(1, "Ada"), (2, "Grace")])


def test_options_of_files(sqlite, tmp_path):
    path = tmp_path / "odd.txt"
    path.write_text("# made by hand\nid;name;at\n1;'a;b';NA\n# no row\n2;é;2020\n", encoding="latin1")
    options = {"format": "csv", "delimiter": ";", "quote": "'", "comment": "#", "nulls": ["NA"], "encoding": "latin1", "header": True}
    inrush.load(path, sqlite.url, table="t", types={"at": "text"}, progress=False, **options)
    assert sqlite.read() == (["id", "name", "at"], [(1, "a;b", None), (2, "é", "2020")])
    inrush.load(path, sqlite.url, table="t", if_exists="replace", types="text", progress=False, **options)
    assert sqlite.values("id") == ["1", "2"]


def test_words_of_the_command_are_known(sqlite, tmp_path):
    path = tmp_path / "odd.txt"
    path.write_text('id\tname\n1\t"a\n')
    said = {"table": "t", "if_exists": "replace", "progress": False, "format": "csv"}
    for header in ("yes", "auto", True):
        inrush.load(path, sqlite.url, delimiter="tab", quote="none", escape="none", header=header, **said)
        assert sqlite.read() == (["id", "name"], [(1, '"a')])
    inrush.load(path, sqlite.url, delimiter="tab", quote="none", header="no", **said)
    assert sqlite.count() == 2
    for wrong in ({"delimiter": ""}, {"delimiter": "none"}, {"quote": "ab"}, {"header": "maybe"}, {"header": 3}, {"comment": "none"}):
        with pytest.raises(inrush.UsageError, match=next(iter(wrong))):
            inrush.load(path, sqlite.url, **said, **wrong)
    for wrong in ({"rename": {"id": None}}, {"rename": {"id": True}}, {"chunk_size": True}, {"lanes": 10**30}):
        with pytest.raises(inrush.UsageError, match="rename|chunk_size|lanes"):
            inrush.load(path, sqlite.url, **said, **wrong)
    for wrong in (-1, 10**30, True):
        with pytest.raises(inrush.UsageError, match="bad_rows"):
            inrush.check(path, bad_rows=wrong)


def test_columns_are_chosen_renamed_and_added(sqlite, tmp_path):
    path = tmp_path / "orders.csv"
    path.write_text("Order ID,city,x\n1,Bonn,a\n2,Ulm,b\n")
    said = {"columns": ["city", "Order ID"], "rename": {"Order ID": "id"}, "add": {"batch": 42, "row": "%row"}}
    inrush.load(path, sqlite.url, table="t", not_null="city", **said)
    assert sqlite.read() == (["city", "id", "batch", "row"], [("Bonn", 1, 42, 1), ("Ulm", 2, 42, 2)])
    names = [column["name"] for column in inrush.plan(path, tmp_path / "new.db", **said).columns]
    assert names == ["city", "id", "batch", "row"]
    rows = [{"a": 1, "b": 2}, {"a": None, "b": 3}]
    options = {"table": "t", "if_exists": "replace", "rename": {"a": "c"}, "drop": "b"}
    with pytest.raises(inrush.Error, match="NULL where none is allowed"):
        inrush.write(rows, sqlite.url, not_null="a", **options)
    inrush.write(rows, sqlite.url, add={"load": "%%"}, **options)
    assert sqlite.read() == (["c", "load"], [(1, "%"), (None, "%")])


def test_members_of_archives(sqlite, tmp_path):
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("2024/jan.csv", "id,name\n1,Ada\n")
        archive.writestr("2024/feb.csv.gz", gzip.compress(b"id,name\n2,Grace\n"))
        archive.writestr("notes.md", "no table")
    assert inrush.load(path, sqlite.url, table="t", progress=False).rows_loaded == 2
    assert sqlite.values("name") == ["Ada", "Grace"]
    inrush.load(f"{path}!**/jan*", sqlite.url, table="t", if_exists="replace", progress=False)
    assert sqlite.values("name") == ["Ada"]
    with pytest.raises(inrush.SourceError, match="max_expand"):
        inrush.load(path, sqlite.url, table="u", max_expand="1", progress=False)
    with pytest.raises(inrush.UsageError, match="max_expand"):
        inrush.load(path, sqlite.url, table="u", max_expand="much", progress=False)


def test_a_load_in_steps_goes_on(sqlite, tmp_path):
    path = tmp_path / "long.csv"
    rows = "".join(f"{id},n {id}\n" if id != 2_000 else "x,bad\n" for id in range(1, 3_001))
    path.write_text("id,name\n" + rows)
    options = {"table": "t", "types": {"id": "integer"}, "guarantee": "chunks", "commit_rows": 500, "progress": False}
    with pytest.raises(inrush.RejectedRows) as caught:
        inrush.load(path, sqlite.url, **options)
    assert caught.value.aftermath == "resumable"
    report = inrush.load(path, sqlite.url, resume=True, max_rejects=1, rejects=tmp_path / "bad.csv", **options)
    assert (report.rows_read, report.rows_loaded, report.plan.guarantee) == (3_000, 2_999, "chunks")
    report = inrush.load(path, sqlite.url, resume=True, **options)
    assert report.steps["was_finished"]


def test_plan(sqlite, source):
    plan = inrush.plan(source, sqlite.url, table="t")
    assert (plan.table, plan.target, plan.source) == ("t", sqlite.url, [str(source)])
    assert [column["name"] for column in plan.columns] == ["id", "name"]
    assert "strategy" in str(plan) and str(source) in str(plan)
    assert not sqlite.exists()


def test_options_of_plans_are_written_as_the_command_has_them(sqlite, source):
    plan = inrush.plan(source, sqlite.url, table="t", header=True, indexes=[["id", "name"], "name"])
    assert {one["option"]: one["values"] for one in plan.options} == {"table": ["t"], "header": ["yes"], "indexes": ["id,name", "name"]}


def test_plans_have_the_keys_of_the_command(sqlite, source):
    plan = inrush.plan(source, sqlite.url, table="t", types={"id": "text"}, max_rejects=5)
    command = [sys.executable, "-m", "inrush", "plan", str(source), sqlite.url, "--table", "t", "--json"]
    told = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert plan.to_dict().keys() == told.keys()
    assert [(one["option"], one["values"]) for one in plan.options] == [("table", ["t"]), ("types", ["id=text"]), ("max_rejects", ["5"])]
    assert plan.options[0].keys() == told["options"][0].keys()


def test_check(source):
    check = inrush.check(source, progress=False)
    assert (check.rows_read, check.rows_good, check.rows_bad) == (2, 2, 0)
    source.write_text("id,name\n1,Ada\n2\n3,Grace\n")
    assert inrush.check(source, max_rejects="all", progress=False).rows_bad == 1
    assert repr(check) == "<Check: 2 rows, 0 bad>"


def test_a_check_keeps_its_bad_rows_itself(source):
    for rejects in ([], print):
        with pytest.raises(inrush.UsageError, match="bad_rows"):
            inrush.check(source, rejects=rejects, progress=False)


def test_types_of_all_columns(sqlite):
    sqlite.write([(1, 2.5)], columns=["a", "b"], types="text")
    assert sqlite.read()[1] == [("1", "2.5")]
    for call in (sqlite.write, lambda rows, **said: sqlite.writer(**said)):
        with pytest.raises(inrush.UsageError, match="say one of them"):
            call([(1,)], columns={"a": "integer"}, types="text", if_exists="replace")


def test_report(sqlite):
    report = sqlite.write(ROWS)
    assert report.rows_read == report.rows_loaded + report.rows_rejected + report.rows_skipped
    assert report.version == inrush.__version__
    assert report.verify == {"method": "count", "ok": True}
    assert report.seconds["total"] > 0
    assert isinstance(report.plan, inrush.Plan)
    assert report.plan.strategy.startswith("sqlite/")
    assert str(report.plan).startswith("source")
    with pytest.raises(AttributeError, match="no_such"):
        report.no_such
    assert {"rows_loaded", "warnings", "plan", "to_dict"} <= set(dir(report))
    assert repr(report).startswith("<Report: 2 rows into t, 0 rejected")


def test_reports_have_the_keys_of_the_command(sqlite, source, tmp_path):
    report = inrush.load(source, sqlite.url, table="t", progress=False)
    command = [sys.executable, "-m", "inrush", "load", str(source), str(tmp_path / "other.db"), "--table", "t", "--json"]
    told = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert report.to_dict().keys() == told.keys()
    assert report.plan.to_dict().keys() == told["plan"].keys() == report.to_dict()["plan"].keys()
    json.dumps(report.to_dict())


def test_notebooks(sqlite, source):
    sqlite.table = "<b>"
    report = sqlite.write(ROWS)
    assert "&lt;b&gt;" in report._repr_html_() and "<b>" not in report._repr_html_()
    assert report._repr_html_().startswith("<table>")
    assert report.plan._repr_html_().startswith("<pre>")
    assert inrush.check(source, progress=False)._repr_html_().startswith("<table>")


def test_what_is_told_has_types(sqlite, source):
    """Of each key, and of none that isn't there."""
    report, plan, check = inrush.load(source, sqlite.url, table="t", progress=False), inrush.plan(source, sqlite.url, table="u"), inrush.check(source, progress=False)
    for one in (report, plan, check):
        assert type(one).__annotations__.keys() == one.to_dict().keys()
    assert report.to_dict()["plan"].keys() == plan.to_dict().keys() - {"options"}


def test_copies_of_reports(sqlite, source):
    report = sqlite.write(ROWS)
    for one in (report, report.plan, inrush.check(source, progress=False)):
        for other in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
            assert other == one and type(other) is type(one)
            assert other.to_dict() == one.to_dict() and repr(other) == repr(one)
    assert str(pickle.loads(pickle.dumps(report)).plan) == str(report.plan)
    told = report.to_dict()
    told["plan"]["table"] = "other"
    assert report.plan.table == "t"


CLASSES = [inrush.UsageError, inrush.SourceError, inrush.TargetError, inrush.RejectedRows, inrush.VerifyError, inrush.Interrupted]


def test_classes():
    assert {one.kind for one in CLASSES} == {"usage", "source", "target", "rejects", "verify", "interrupted"}
    assert all(issubclass(one, inrush.Error) for one in CLASSES)
    assert issubclass(inrush.Interrupted, KeyboardInterrupt)
    assert not issubclass(inrush.UsageError, KeyboardInterrupt)


def test_errors(sqlite, source, tmp_path):
    with pytest.raises(inrush.SourceError) as caught:
        inrush.load(tmp_path / "none.csv", sqlite.url)
    error = caught.value
    assert (error.kind, error.aftermath, error.rows_committed) == ("source", "nothing-changed", None)
    assert "none.csv" in str(error)
    with pytest.raises(inrush.TargetError) as caught:
        inrush.load(source, tmp_path / "no such folder" / "x.db")
    assert caught.value.kind == "target"
    sqlite.write(ROWS)
    with pytest.raises(inrush.TargetError) as caught:
        sqlite.write(ROWS)
    assert caught.value.advice and all(advice in str(caught.value) for advice in caught.value.advice)


def test_errors_are_copied_whole(sqlite):
    with pytest.raises(inrush.RejectedRows) as caught:
        sqlite.write([("x",)], columns={"id": "integer"})
    error = caught.value
    for other in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(other) is type(error) and str(other) == str(error)
        assert (other.advice, other.aftermath, other.rows, other.record) == (error.advice, error.aftermath, error.rows, error.record)


@pytest.mark.parametrize("call", [inrush.write, inrush.load, inrush.plan, inrush.check, inrush.Writer])
def test_wrong_keywords(call):
    with pytest.raises(TypeError, match="tabel"):
        call("x", "y", tabel="t") if call is not inrush.Writer else call("y", tabel="t")


@pytest.mark.parametrize(
    "wrong",
    [
        {"if_exists": "nonsense"},
        {"on_conflict": "nonsense"},
        {"on_conflict": "update"},
        {"match_by": "nonsense"},
        {"durability": "nonsense"},
        {"verify": "nonsense"},
        {"strategy": "nonsense"},
        {"settings": {"nonsense": 1}},
        {"settings": {"page_size": "nonsense"}},
        {"lanes": -1},
        {"lanes": "two"},
        {"lanes": 0},
        {"encoders": 0},
        {"chunk_size": "big"},
        {"chunk_size": -5},
        {"chunk_size": ""},
        {"types": {"id": "nonsense"}},
        {"types": {"nope": "text"}},
        {"primary_key": "nope"},
        {"primary_key": 5},
        {"indexes": ["nope"]},
        {"table": 5},
        {"indexes": 5},
        {"types": 5},
        {"types": "nonsense"},
        {"settings": 5},
        {"chunk_size": 1.5},
        {"columns": 5},
        {"nulls": 5},
        {"progress": "x"},
        {"duckdb_lib": 5},
        {"add": {"x=y": 5}},
        {"rename": {"x=y": "z"}},
    ],
)
def test_wrong_values(sqlite, wrong):
    for rows in (ROWS, iter(ROWS)):
        with pytest.raises(inrush.UsageError) as caught:
            sqlite.write(rows, **wrong)
        assert not isinstance(caught.value, TypeError)
        assert caught.value.aftermath == "nothing-changed"
    assert not sqlite.exists()


def test_wrong_targets(tmp_path):
    for target in ("", "nonsense://x", "x.unknown", tmp_path / "x"):
        with pytest.raises(inrush.UsageError):
            inrush.write(ROWS, target, table="t")
    for target in (None, 5, b"x"):
        with pytest.raises(inrush.UsageError, match="target"):
            inrush.write(ROWS, target, table="t")


@pytest.mark.parametrize("call", [inrush.load, inrush.plan, inrush.check])
def test_rows_are_no_files(sqlite, call):
    import pandas
    import polars

    frames = (pandas.DataFrame({"id": [1]}), polars.DataFrame({"id": [1]}), pandas.DataFrame({"id": [1]}).itertuples())
    for rows in (*frames, ROWS, {"id": [1]}, 5):
        with pytest.raises(inrush.UsageError, match=r"write\(\)"):
            call(rows, sqlite.url)


def feed(url):
    with inrush.Writer(url, table="t", progress=False) as rows:
        rows.insert(ROWS[0])
        assert "secret" not in repr(rows)


def test_passwords_are_not_told():
    for call in (lambda url: inrush.write(ROWS, url, table="t"), feed):
        with pytest.raises(inrush.TargetError) as caught:
            call("postgres://me:secret@127.0.0.1:1/x")
        assert "secret" not in str(caught.value) + repr(caught.value)
        for scheme in ("sqlite", "duckdb", "csv", "jsonl", "parquet"):
            with pytest.raises(inrush.UsageError, match="takes a file, and this is a URL") as caught:
                call(f"{scheme}:postgres://me:secret@host/x")
            assert "secret" not in str(caught.value) + repr(caught.value)


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        ("mysql://me:secret@host/db", "mysql://me@host/db"),
        ("postgres://me:secret@host/db?password=secret", "postgres://me@host/db"),
        ("mysql://me:sec/ret@host/db", ""),
        ("host=db password=secret", "..."),
        ("duckdb:postgres://me:secret@host/db", "..."),
        ("csv:https://me:secret@host/db.csv", "..."),
        ("own.db", "own.db"),
    ],
)
def test_a_writer_shows_no_password(target, shown):
    rows = inrush.Writer(target, progress=False)
    assert "secret" not in repr(rows) and "sec/ret" not in repr(rows) and shown in repr(rows)
    rows.abort()


def test_settings_have_values_of_python(sqlite):
    report = sqlite.write(ROWS, settings={"page_size": 8192}, strategy="sqlite/bind")
    assert report.plan.strategy == "sqlite/bind"
    assert str(report.plan.knobs["page_size"]) == "8192"


def test_progress(sqlite, capfd):
    seen = []
    rows = ((number, time.sleep(0.0002)) for number in range(3_000))
    sqlite.write(rows, columns=["id", "nothing"], progress=seen.append)
    assert all({"rows", "rejected", "bytes", "bytes_total", "seconds"} == told.keys() for told in seen)
    # No bar where standard error is no terminal.
    sqlite.write(ROWS, if_exists="replace", progress=True)
    assert capfd.readouterr() == ("", "")


def test_a_progress_callback_that_raises(sqlite):
    def enough(told):
        raise LookupError("enough")

    # Types are told from the first rows, and until then there is no load.
    rows = ((number, time.sleep(0.001 if number > 20_000 else 0)) for number in range(200_000))
    with pytest.raises(LookupError, match="enough"):
        sqlite.write(rows, columns=["id", "nothing"], progress=enough)
    assert not sqlite.exists()


INTERRUPTED = """
import sys, time, inrush
def rows():
    for number in range(10**9):
        if number == 50_000:
            print("ready", flush=True)
        yield {"id": number}
try:
    %s
except inrush.Interrupted as error:
    print(error.kind, error.aftermath, isinstance(error, KeyboardInterrupt))
"""
WAYS = {
    "write": "inrush.write(rows(), sys.argv[1], table='t', progress=False)",
    "writer": """
    with inrush.Writer(sys.argv[1], table='t', progress=False) as writer:
        writer.insert_many(rows())""",
}


@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c(sqlite, way):
    program = start(INTERRUPTED % WAYS[way], sqlite.url)
    assert program.stdout.readline() == "ready\n"
    time.sleep(0.2)
    program.send_signal(signal.SIGINT)
    out, errors = program.communicate(timeout=30)
    # In a writer it may come while the program's own code runs, whose exception it is then.
    assert out == "interrupted nothing-changed True\n" or (way == "writer" and errors.endswith("\nKeyboardInterrupt\n")), errors
    assert list(sqlite.folder.iterdir()) == []


def test_ctrl_c_of_a_load(sqlite, tmp_path):
    source = tmp_path / "pipe.csv"
    os.mkfifo(source)
    code = """
import sys, inrush
print("ready", flush=True)
try:
    inrush.load(sys.argv[1], sys.argv[2], table="t", format="csv", types={"id": "integer"}, header=True, progress=False)
except inrush.Interrupted as error:
    print(error.kind, error.aftermath)
"""
    program = start(code, source, sqlite.url)
    assert program.stdout.readline() == "ready\n"
    with open(source, "w") as pipe:
        pipe.write("id\n" + "1\n" * 2_000)
        pipe.flush()
        time.sleep(0.3)
        program.send_signal(signal.SIGINT)
        out, errors = program.communicate(timeout=30)
    assert out == "interrupted nothing-changed\n", errors
    assert not sqlite.exists()


def test_the_interpreters_lock_is_released(sqlite, tmp_path):
    source = tmp_path / "many.csv"
    source.write_text("id,name\n" + "".join(f"{number},name {number}\n" for number in range(150_000)))
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    inrush.load(source, sqlite.url, table="t", progress=False)
    took = time.monotonic() - began
    stop.set()
    thread.join()
    gaps = [later - sooner for sooner, later in zip(ticks, ticks[1:])]
    assert len(ticks) > 20 * took and max(gaps) < took / 2 + 0.2


def test_import_time():
    """No library of frames is imported, and little else."""
    code = """
import sys, time
began = time.perf_counter()
import inrush
took = time.perf_counter() - began
wanted = {"numpy", "pandas", "polars", "pyarrow", "duckdb", "asyncio", "ssl"} & set(sys.modules)
print(took, sorted(wanted))
"""
    answers = [run(code).stdout.split(" ", 1) for _ in range(5)]
    assert {found for _, found in answers} == {"[]\n"}
    # Far more than a wheel's takes: this one may be a debug build, on a machine that is busy.
    assert min(float(took) for took, _ in answers) < 0.2


def test_command(tmp_path, source):
    script = pathlib.Path(sys.executable).with_name("inrush")
    commands = [[sys.executable, "-m", "inrush"], *([[str(script)]] if script.exists() else [])]
    for command in commands:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True)
        assert (done.returncode, done.stdout.split()) == (0, ["inrush", inrush.__version__]), done.stderr
        done = subprocess.run([*command, "load", str(source), str(tmp_path / "own.db"), "--if-exists", "replace"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert subprocess.run([*command, "load", "nothing.csv", str(tmp_path / "own.db")], capture_output=True).returncode == 1
        assert subprocess.run([*command, "--nonsense"], capture_output=True).returncode == 2


def test_everything_is_documented():
    for name in inrush.__all__:
        assert getattr(inrush, name).__doc__, name
    for name in ("insert", "insert_many", "write", "commit", "finish", "abort"):
        assert getattr(inrush.Writer, name).__doc__, name


def test_what_was_measured_is_the_commands(tmp_path, monkeypatch):
    """Profiles are looked for where the command looks for them; here in a file of which nothing can be read."""
    source = tmp_path / "people.csv"
    source.write_text("id,name\n1,Ada\n")
    kept = tmp_path / "inrush" / "profiles.toml"
    kept.parent.mkdir()
    kept.write_text("version = 1\nprofiles = 7\n")

    def hints(**options):
        return "what was measured here is passed over" in str(inrush.plan(source, tmp_path / "people.db", **options))

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert hints()
    assert not hints(profiles="none")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "elsewhere"))
    assert not hints()
    assert hints(profiles=kept)
    assert inrush.load(source, tmp_path / "people.db", profiles=kept).rows_loaded == 1


def test_options_are_the_commands():
    """Each option of `inrush load` has its keyword."""
    import inspect

    done = subprocess.run([sys.executable, "-m", "inrush", "load", "--help"], capture_output=True, text=True)
    options = {word.strip(",[]").partition("[")[0].lstrip("-").replace("-", "_") for line in done.stdout.splitlines() for word in line.split()[:3] if word.startswith("--")}
    other_names = {"type": "types", "match": "match_by", "index": "indexes", "null": "nulls", "set": "settings"}
    of_the_command = {"json", "help", "progress", "quiet", "verbose", "color", "yes", "profile", "dry_run", "force_table", "no_progress", "config"}
    keywords = set(inspect.signature(inrush.load).parameters)
    assert {other_names.get(option, option) for option in options} - of_the_command - keywords == set()


@pytest.mark.parametrize("function", ["write", "load", "plan", "check", "Writer"])
def test_keywords_of_other_libraries_are_explained(function, tmp_path):
    """A bare TypeError let people guess."""
    import inspect

    from inrush import _options

    called = getattr(inrush, function)
    args = [tmp_path / "x.db"] if function == "Writer" else [[{"id": 1}], tmp_path / "x.db"]
    keywords = {"table", *inspect.signature(inrush.Writer.__new__ if function == "Writer" else called).parameters}
    assert "indexes" in keywords
    said = dict(_options.ELSEWHERE)
    for name, advice in said.items():
        assert name not in inspect.signature(inrush.load).parameters
        wanted = f"unexpected keyword argument '{name}'"
        if not advice.isidentifier():
            wanted += ": " + advice
        elif advice in keywords:
            wanted += f": it is {advice}= here"
        with pytest.raises(TypeError, match=re.escape(wanted) + "($|\\.)"):
            called(*args, **{name: "x"})
    # As pandas has them: no target.
    with pytest.raises(TypeError, match="'con': it is target= here"):
        called(*args[:-1], con="x.db", index=False)
    with pytest.raises(TypeError, match="unexpected keyword argument 'tabel'"):
        called(*args, tabel="x")
    assert not (tmp_path / "x.db").exists()


def test_keywords_of_other_libraries_are_those_of_some_function():
    import inspect

    from inrush import _options

    keywords = {*inspect.signature(inrush.load).parameters}
    assert {said for said in _options.ELSEWHERE.values() if said.isidentifier()} <= keywords


def test_paths_are_no_rows(tmp_path):
    for paths in (["x.csv"], [tmp_path / "x.csv"]):
        with pytest.raises(inrush.UsageError, match="is no row: load\\(\\) reads files"):
            inrush.write(paths, tmp_path / "x.db", table="t")


ADVICE = {
    "fix the row, or reject bad rows with --max-rejects N (or N%) and --rejects FILE": "fix the row, or reject bad rows with max_rejects=N (or N%) and rejects=FILE",
    "bad row 3; --max-rejects 2 allows no more": "bad row 3; max_rejects=2 allows no more",
    "as --max-rejects 1% allows": 'as max_rejects="1%" allows',
    "--null v=NaN loads NULL for it": 'nulls=["v=NaN"] loads NULL for it',
    "--null id= --null c=- read them as NULL": 'nulls=["id="] nulls=["c=-"] read them as NULL',
    "--null id=NA --null 'a b=NA' reads it as NULL": 'nulls=["id=NA"] nulls=["a b=NA"] reads it as NULL',
    """--null 'n="NULL"' reads it as NULL""": """nulls=['n="NULL"'] reads it as NULL""",
    "an empty text (--empty text reads it so)": 'an empty text (empty="text" reads it so)',
    "--match position if these are the same": 'match_by="position" if these are the same',
    "as --match says": "as match_by says",
    r"say --escape '\'": r"say escape='\\'",
    "or say --quote none": 'or say quote="none"',
    "or --escape none": 'or escape="none"',
    '--verify none loads without comparing': 'verify="none" loads without comparing',
    "begin the job with --guarantee none, whose": 'begin the job with guarantee="none", whose',
    "--durability none": 'durability="none"',
    "--profiles none goes by": 'profiles="none" goes by',
    "--thousands n=, or --decimal n=, reads it": 'thousands="n=," or decimal="n=," reads it',
    """in quotes: --table '"a.b"'""": """in quotes: table='"a.b"'""",
    "with --delimiter tab each would have 2 fields": 'with delimiter="tab" each would have 2 fields',
    "--rename OLD=NEW gives one another name, --drop leaves it out": 'rename={"OLD": "NEW"} gives one another name, drop leaves it out',
    "--drop NAME or --new-columns ignore to leave": 'drop=NAME or new_columns="ignore" to leave',
    "say --type id=text (or --types text for all columns)": 'say types={"id": "text"} (or types="text" for all columns)',
    "--type COLUMN=TYPE, once a column": 'types={"COLUMN": "TYPE"}, once a column',
    "--set sql_log_bin=off leaves it out": 'settings={"sql_log_bin": "off"} leaves it out',
    "leave --strategy out": "leave strategy out",
    "from 0: --partition N": "from 0: partition=N",
    "--strategy sqlite/bind takes it": 'strategy="sqlite/bind" takes it',
    "--header no if it is data": "header=False if it is data",
    "say --quote none": 'say quote="none"',
    "--decimal , reads them": 'decimal="," reads them',
    "check --skip-lines, --comment and --encoding": "check skip_lines, comment and encoding",
    "--encoding windows-1252 reads it": 'encoding="windows-1252" reads it',
    "go on with --resume and a higher --max-rejects: a file": "go on with resume=True and a higher max_rejects: a file",
    "--if-exists append adds the new rows": 'if_exists="append" adds the new rows',
    "say --type 'a b=text'": 'say types={"a b": "text"}',
    "say --type a=b=text": 'say types={"a=b": "text"}',
    r"say --type 'it'\''s=text' here": 'say types={"it\'s": "text"} here',
    """say --type 'say "a"=text'""": """say types={'say "a"': "text"}""",
    "say --index 'a b'": 'say indexes=["a b"]',
    "say --rename 'a b%=c%'": 'say rename={"a b%": "c%"}',
    "--json lists them, cut--off": "--json lists them, cut--off",
}


@pytest.mark.parametrize("said", ADVICE)
def test_advice_is_in_keywords(said):
    from inrush._errors import _for_python

    assert _for_python(said) == ADVICE[said]


def test_warnings_are_in_keywords(sqlite):
    rows = [{"a": number} for number in range(99)] + [{"a": "x"}]
    for options, said in (({}, 'types={"a": "integer"} makes'), ({"max_rejects": 2, "rejects": []}, "max_rejects=2 allows")):
        report = sqlite.write(rows, if_exists="replace", **options)
        assert any(said in warning for warning in report.warnings), report.warnings
        assert "--" not in "".join(report.warnings)
        assert pickle.loads(pickle.dumps(report)).warnings == report.warnings


@pytest.mark.parametrize("target", ["parquet:x.parquet", "arrow:-", "x.db"])
def test_types_that_a_target_lacks_are_named_in_keywords(target, tmp_path, monkeypatch):
    """A name with a blank in it was not known as the value of an option."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "a b", "it's", "a=b"):
        with pytest.raises(inrush.UsageError) as caught:
            inrush.write([{name: "1"}], target, table=None if ":" in target else "t", types={name: "interval"}, progress=False)
        assert str(caught.value).startswith(f'types={{"{name}": "interval"}}: ')
        assert caught.value.advice == [f'types={{"{name}": "text"}} keeps its values as they are written']


def test_plans_are_in_keywords(tmp_path):
    source = tmp_path / "x.csv"
    source.write_text("c\n" + "1\n" * 100 + "x\n")
    plan = inrush.plan(source, tmp_path / "x.db", lanes=1)
    assert 'types={"c": "integer"} makes such rows bad rows' in str(plan)
    assert "--" not in str(plan)
    assert "--" not in "".join(plan.reasons)
    assert str(pickle.loads(pickle.dumps(plan))) == str(plan)


def test_advice_names_keywords_that_exist():
    """Of all options of the command that have one."""
    import inspect

    from inrush._errors import _OPTIONS

    keywords = {name for begins in (inrush.load, inrush.job.begin, inrush.job.write) for name in inspect.signature(begins).parameters}
    assert {keyword.partition("=")[0] for keyword, _, _ in _OPTIONS.values()} <= keywords
    done = subprocess.run([sys.executable, "-m", "inrush", "load", "--help"], capture_output=True, text=True)
    shown = {word.strip(",[]").partition("[")[0].lstrip("-") for line in done.stdout.splitlines() for word in line.split()[:3] if word.startswith("--")}
    of_the_command = {"json", "help", "quiet", "verbose", "yes", "dry-run", "config", "progress"}
    assert shown - of_the_command - _OPTIONS.keys() == set()


def test_advice_for_rows_of_a_program(sqlite):
    with pytest.raises(inrush.RejectedRows) as caught:
        sqlite.write([(1,), (float("nan"),)], columns={"v": "float"})
    assert any("max_rejects=N" in one and "rejects=FILE" in one for one in caught.value.advice)
    assert any(one.startswith('nulls=["v=NaN"]') for one in caught.value.advice)
    assert sqlite.write([(1,), (float("nan"),)], columns={"v": "float"}, nulls=["v=NaN"]).rows_loaded == 2
    with pytest.raises(inrush.RejectedRows) as caught:
        sqlite.write([("a",), ("\ud800",)], columns=["v"], if_exists="replace")
    assert not any("encoding" in one for one in caught.value.advice)
    bad = []
    with pytest.raises(inrush.RejectedRows, match="max_rejects=1 allows no more"):
        sqlite.write([("x",), ("y",)], columns={"v": "float"}, max_rejects=1, rejects=bad, if_exists="replace")


def test_examples():
    """The docstrings' examples, as they are in the installed package."""
    import doctest
    import importlib
    import pkgutil

    tried = 0
    for module in pkgutil.iter_modules(inrush.__path__):
        # Engines are not there everywhere.
        if module.name not in ("__main__", "_inrush", "_spark_source", "dask", "ray", "spark"):
            results = doctest.testmod(importlib.import_module(f"inrush.{module.name}"), optionflags=doctest.ELLIPSIS)
            assert results.failed == 0, module.name
            tried += results.attempted
    tried += doctest.testmod(inrush, optionflags=doctest.ELLIPSIS).attempted
    assert tried > 20


def test_types_are_checked(tmp_path):
    """The package, and a program that uses it, as a stranger's type checker sees them."""
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(
        """
import inrush

report: inrush.Report = inrush.write([(1,)], "x.db", table="t", columns=["id"])
rows: int = report.rows_loaded
plan: inrush.Plan = report.plan
with inrush.Writer("x.db", table="t", commit="batch", rows_per_commit=5) as writer:
    writer.insert({"id": 1})
    writer.insert_many([(1,)])
    writer.write(object())
    writer.commit()
loaded: int = writer.report.rows_loaded
seconds: float = report.seconds["total"]
table: str = plan.table
inrush.write([(1,)], "x.db", table="t", columns=["id"], types="text")
check: inrush.Check = inrush.check("x.csv")
bad: int = check.rows_bad
job: inrush.job.Job = inrush.job.begin("u", None, table="t")
try:
    pass
except inrush.RejectedRows as error:
    places: list[int] = [row.position for row in error.rows]
inrush.write([(1,)], "x.db", tabel="t")  # type: ignore[call-arg]
"""
    )
    # What frames are is not looked at, which would take long.
    others = ("dask", "numpy", "pandas", "polars", "pyarrow", "pyspark", "ray")
    skipped = "".join(f"[mypy-{name}.*]\nfollow_imports = skip\n" for name in others)
    (tmp_path / "mypy.ini").write_text("[mypy]\n" + skipped)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "-m", "program", "-p", "inrush"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_no_text_is_none_where_texts_are_meant(sqlite):
    """`str(None)` would be one."""
    for said in ({"nulls": [None]}, {"nulls": [float("nan")]}, {"key": [True], "on_conflict": "skip"}, {"columns": [None]}, {"decimal": [1.5]}):
        with pytest.raises(inrush.UsageError, match="is no text"):
            sqlite.write([(1,)], **{"columns": ["a"], **said})
    with pytest.raises(inrush.UsageError, match='types: a: .* is no name of a type: write "integer"'):
        sqlite.write([(1,)], columns={"a": int})
    with pytest.raises(inrush.UsageError, match="lanes: '2' is no value of it: 'str' object cannot"):
        sqlite.write([(1,)], columns=["a"], lanes="2")


def test_whole_numbers_are_names_and_spellings(sqlite):
    pd = pytest.importorskip("pandas")
    sqlite.write([("-999", "x"), ("1", "y")], columns=pd.DataFrame([(1, 2)]).columns, nulls=[-999])
    assert sqlite.read() == (["0", "1"], [(None, "x"), ("1", "y")])


def test_an_open_file_is_no_list_of_paths(tmp_path, sqlite):
    """Its lines would be taken for names, and one may be that of a file."""
    path = tmp_path / "names.txt"
    path.write_text(f"{path}\n")
    with open(path) as file, pytest.raises(inrush.UsageError, match=f'is an open one: say its name, "{path}"'):
        inrush.load(file, sqlite.url, table="t")


def test_urls_as_sqlalchemy_has_them():
    for url, advice in [
        ("sqlite:///shop.db", "write sqlite:shop.db"),
        ("postgresql+psycopg2://localhost/x", r"leave \+psycopg2 out"),
        ("mysql+pymysql://localhost/x", r"leave \+pymysql out"),
        ("sqlite:///:memory:", "in memory would be gone"),
        ("duckdb:///shop.duckdb", "write duckdb:shop.duckdb"),
    ]:
        with pytest.raises(inrush.UsageError, match=advice):
            inrush.write([{"a": 1}], url, table="t")


def test_objects_of_sqlalchemy_say_how_their_url_is_written(tmp_path):
    """And it is written so."""
    sqlalchemy = pytest.importorskip("sqlalchemy")
    orm = pytest.importorskip("sqlalchemy.orm")
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/q.db")
    with engine.connect() as connection, orm.Session(engine) as session:
        for given in (engine.url, engine, connection, session):
            with pytest.raises(inrush.UsageError) as caught:
                inrush.write([{"a": 1}], given, table="t")
            written = re.search(r"its (\S+)\(hide_password=False\) is one", str(caught.value))[1]
            for name in written.split("."):
                given = getattr(given, name.removesuffix("()"))
                given = given() if name.endswith("()") else given
            assert given(hide_password=False) == f"sqlite:///{tmp_path}/q.db"


def test_a_path_behind_sqlite_is_from_the_root_unless_it_may_be_from_here(tmp_path, monkeypatch):
    """As `f"sqlite://{path}"` makes it."""
    monkeypatch.chdir(tmp_path)
    url = f"sqlite://{tmp_path}/q.db"
    inrush.write([{"a": 1}], url, table="t")
    assert (tmp_path / "q.db").exists()
    (tmp_path / str(tmp_path).lstrip("/")).mkdir(parents=True)
    (tmp_path / "only_here").mkdir()
    for refused in (url, "sqlite:///only_here/q.db", "sqlite:///./q.db"):
        with pytest.raises(inrush.UsageError, match="in this folder to SQLAlchemy"):
            inrush.write([{"a": 1}], refused, table="t")


def test_a_value_that_the_first_rows_did_not_say(sqlite):
    """The row is right, and the column's type is a guess."""
    with pytest.raises(inrush.RejectedRows) as caught, sqlite.writer() as writer:
        writer.insert_many([{"a": 1}] * 20_000 + [{"a": 3.5}])
    assert any(one.startswith('types={"a": "TYPE"} says what the column is') for one in caught.value.advice)
    sqlite.write([(1,)], columns={"a": "integer"})
    with pytest.raises(inrush.RejectedRows) as caught:
        sqlite.write([(3.5,)], columns=["a"], if_exists="append")
    assert not any("TYPE" in one for one in caught.value.advice)


def test_lists_of_columns_name_each_once(sqlite):
    for wrong, message in [
        ({"primary_key": ["a", "a"]}, "names column a twice"),
        ({"indexes": [["a", "A"]]}, "names column A twice"),
        ({"indexes": [[]]}, "an index has at least one column"),
    ]:
        with pytest.raises(inrush.UsageError, match=message):
            sqlite.write([(1,)], columns=["a"], **wrong)
    assert not sqlite.exists()


def test_a_forked_child_has_connections_of_its_own(tmp_path):
    """Of those that its parent keeps, the answers to both would come to either."""
    code = """
import http.server, os, sqlite3, sys, threading, inrush

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        page = ("id,name\\n" + "".join(f"{number},{self.path[1:]}\\n" for number in range(200))).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)
        ports.setdefault(self.path, set()).add(self.client_address[1])

    def log_message(self, *_):
        pass

ports = {}
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()

def load(name):
    target = os.path.join(sys.argv[1], name + ".db")
    inrush.load(f"http://127.0.0.1:{server.server_port}/{name}.csv", target, table="t", progress=False)
    return sqlite3.connect(target).execute("select distinct name from t").fetchall() == [(name + ".csv",)]

def child(name, then=lambda: True):
    pid = os.fork()
    if pid == 0:
        os._exit(0 if load(name) and then() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

assert load("a") and child("b", lambda: child("c")) and child("d") and load("e")
assert ports["/a.csv"] == ports["/e.csv"]
assert len(set.union(*ports.values())) == 4, ports
"""
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_transaction_of_the_program_itself_locks_sqlite(sqlite, journal):
    """Its locks are the process's, so SQLite itself takes them for its own."""
    sqlite.execute("create table own (id integer)")
    connection = sqlite3.connect(sqlite.url, check_same_thread=False)
    connection.execute(f"pragma journal_mode = {journal}")
    connection.execute("insert into own values (1)")
    for _ in range(2):
        with pytest.raises(inrush.TargetError, match="locked by another connection of this program") as caught:
            sqlite.write([{"id": 1}], settings={"busy_timeout": 50})
        assert caught.value.aftermath == "nothing-changed"

    def finish():
        connection.commit()
        if journal == "wal":
            connection.close()

    # As long as another process's would be waited for.
    timer = threading.Timer(0.3, finish)
    timer.start()
    assert sqlite.write([{"id": 1}], settings={"busy_timeout": 60_000}).rows_loaded == 1
    timer.join()
    if journal == "wal":
        connection = sqlite3.connect(sqlite.url)
    connection.execute("insert into own values (2)")
    connection.commit()
    assert connection.execute("select count(*) from own").fetchone() == (2,)
    assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    connection.close()
    assert sqlite.count() == 1


def test_a_connection_of_the_program_that_has_the_log_open_is_not_robbed_of_it(sqlite):
    """The last connection of a library takes the log away; those of another would go on writing into it, unseen by all."""
    sqlite.execute("create table own (id integer)")
    sqlite.execute("pragma journal_mode = wal")
    load = lambda: sqlite.write([{"id": 1}], if_exists="replace", settings={"busy_timeout": 50})
    # One that has only been made has nothing open yet.
    fresh = sqlite3.connect(sqlite.url)
    load()
    with sqlite3.connect(sqlite.url, check_same_thread=False) as connection:
        connection.execute("insert into own values (1)")

    def insert():
        with sqlite.writer(settings={"busy_timeout": 50}) as writer:
            writer.insert({"id": 1})

    for call in (load, insert) * 2:
        with pytest.raises(inrush.TargetError, match="open in WAL mode by another connection of this program") as caught:
            call()
        assert caught.value.advice[0].startswith("close that connection")
    connection.execute("insert into own values (2)")
    connection.commit()
    timer = threading.Timer(0.3, connection.close)
    timer.start()
    assert sqlite.write([{"id": 1}], if_exists="replace", settings={"busy_timeout": 60_000}).rows_loaded == 1
    timer.join()
    assert fresh.execute("select count(*) from own").fetchone() == (2,)
    fresh.close()


def test_what_the_program_reads_does_not_change_beneath_it(sqlite):
    sqlite.execute("create table own as with recursive n (id) as (select 1 union all select id + 1 from n where id < 50000) select id from n")
    connection = sqlite3.connect(sqlite.url)
    rows = connection.execute("select id from own")
    next(rows)
    with pytest.raises(inrush.TargetError, match="being read by another connection of this program"):
        sqlite.write([{"id": 1}], settings={"busy_timeout": 50})
    assert sum(1 for _ in rows) == 49_999
    # Nothing is locked any more, though it is open.
    assert sqlite.write([{"id": 1}]).rows_loaded == 1
    connection.close()


def test_threads_load_into_one_database(sqlite):
    """Locks of the library itself are waited for."""
    sqlite.execute("create table own (id integer)")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        write = lambda number: inrush.write(({"id": id} for id in range(2_000)), sqlite.url, table=f"t{number}", progress=False)
        assert [report.rows_loaded for report in pool.map(write, range(4))] == [2_000] * 4


def test_a_file_that_the_program_has_open_by_duckdb_is_refused(tmp_path):
    """Of two libraries in one process each would undo what the other writes."""
    duckdb = pytest.importorskip("duckdb")
    place = Duckdb(tmp_path)
    place.execute("create table own as select range id from range(1000)")
    connection = place.connect()
    for call in (lambda: place.write([{"id": 1}]), lambda: inrush.plan(tmp_path / "rows.csv", place.url, table="t")) * 2:
        (tmp_path / "rows.csv").write_text("id\n1\n")
        with pytest.raises(inrush.TargetError, match="open in this program"):
            call()
    connection.execute("insert into own values (5)")
    connection.close()
    assert place.write([{"id": 1}]).rows_loaded == 1
    assert place.read()[1] == [(1,)]
    with duckdb.connect(place.url) as connection:
        assert connection.execute("select count(*) from own").fetchone() == (1001,)


#: A load in a thread that ends with the program, which goes on making rows.
ENDLESS = """
import sys, threading, time, inrush
begun = threading.Event()
def rows():
    for number in range(10**9):
        yield {"id": number}
        begun.set()
def load():
    inrush.write(rows(), sys.argv[1], table="t", progress=False)
def write():
    with inrush.Writer(sys.argv[1], table="w") as writer:
        for number in range(10**9):
            writer.insert({"id": number})
            begun.set()
threading.Thread(target={"load": load, "write": write}[sys.argv[2]], daemon=True).start()
begun.wait()
time.sleep(0.2)
"""


@pytest.mark.parametrize("what", ["load", "write"])
def test_a_program_that_ends_ends_the_loads_of_its_threads(tmp_path, what):
    ended = run(ENDLESS, tmp_path / "x.db", what)
    assert ended.returncode == 0, ended.stderr
    assert "FATAL" not in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_who_holds_what_a_load_waits_for_is_logged(tmp_path, databases, caplog):
    place = make_place(next(kind for kind in kinds() if kind.startswith("postgres")), tmp_path, databases)
    place.execute(f'create table "{place.table}" (id bigint)')
    said = "waiting for a lock on"

    def holds():
        with place.connect() as holder:
            holder.execute("begin")
            holder.execute(f'lock table "{place.table}"')
            is_held.set()
            deadline = time.monotonic() + 60
            while said not in caplog.text and time.monotonic() < deadline:
                time.sleep(0.05)
            holder.execute("rollback")

    is_held = threading.Event()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        held = pool.submit(holds)
        assert is_held.wait(60)
        assert place.write([{"id": 1}], if_exists="append").rows_loaded == 1
        held.result()
    [record] = [record for record in caplog.records if said in record.getMessage()]
    assert (record.name, record.levelname) == ("inrush", "WARNING")
