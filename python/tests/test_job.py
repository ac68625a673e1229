"""Jobs: one load that several processes write."""

import collections
import os
import re
import signal
import time
import warnings

import pytest
from conftest import WANTED, Mongodb, Mysql, Postgres, kinds, make_place, run, start

import inrush

pyarrow = pytest.importorskip("pyarrow")

SCHEMA = pyarrow.schema([("id", pyarrow.int64()), ("name", pyarrow.string())])
FAMILIES = tuple(kind for kind, family in WANTED.items() if family in (Mysql, Postgres))


@pytest.fixture(params=[kind for kind in kinds() if kind.startswith(FAMILIES)])
def home(request, tmp_path, databases):
    """Each target that has jobs, with nothing left behind in the end."""
    place = make_place(request.param, tmp_path, databases)
    place.job = f"job of {place.table}"
    yield place
    inrush.job.gc(place.url, 0)
    assert hidden(place) == []


@pytest.fixture
def collection(tmp_path, databases):
    """The same of MongoDB, which has jobs without transactions."""
    place = make_place(next(kind for kind in kinds() if WANTED.get(kind.split("-")[0]) is Mongodb), tmp_path, databases)
    place.job = f"job of {place.table}"
    yield place
    inrush.job.gc(place.url, 0)
    assert hidden(place) == []


def hidden(place):
    if isinstance(place, Mongodb):
        with place.connect_to(place.url) as client:
            names = client[place.database].list_collection_names()
        return sorted(name for name in names if name.startswith("inrush_") and name != "inrush_jobs")
    like = "like 'inrush\\_%'" if isinstance(place, Mysql) else "like 'inrush!_%' escape '!'"
    sql = f"select table_name from information_schema.tables where table_name {like} order by 1"
    if isinstance(place, Mysql):
        names = [row[0] for row in place.ask(sql.replace("where", "where table_schema = database() and"))[1]]
    else:
        with place.connect() as connection:
            names = [row[0] for row in connection.execute(sql).fetchall()]
    return [name for name in names if name != "inrush_jobs"]


def left(place, seconds=30):
    """The same, once attempts that were still running when their job was over have dropped their own."""
    until = time.monotonic() + seconds
    while hidden(place) and time.monotonic() < until:
        time.sleep(0.1)
    return hidden(place)


def begin(place, **options):
    return inrush.job.begin(place.url, SCHEMA, **{"table": place.table, "job_id": place.job, **options})


def part(number, rows=100):
    ids = range(number * rows, (number + 1) * rows)
    return pyarrow.table({"id": list(ids), "name": [f"n{one}" for one in ids]}, schema=SCHEMA)


def ids(place):
    return sorted(place.values("id"))


def test_columns_of_other_names_go_by_position(home):
    home.execute(f"create table {home.table} (number bigint primary key, label text)")
    job = begin(home, match_by="position")
    tokens = [inrush.job.write(str(job), part(number)) for number in range(2)]
    assert inrush.job.publish(job, tokens).rows_loaded == 200
    assert sorted(home.values("number")) == list(range(200))


@pytest.mark.parametrize("if_exists", ["append", "replace", "empty"])
def test_rows_are_seen_when_they_are_published(home, if_exists):
    if if_exists != "empty":
        home.execute(f"create table {home.table} (id bigint primary key, name text)")
        home.execute(f"insert into {home.table} values (-1, 'old')")
    before = [-1] if if_exists == "append" else []
    job = begin(home, if_exists=if_exists)
    tokens = [inrush.job.write(str(job), part(number)) for number in range(3)]
    assert home.count() == {"empty": None}.get(if_exists, 1)
    report = inrush.job.publish(job, [str(token) for token in tokens])
    assert (report.rows_loaded, report.rows_rejected, report.attempts, report.state) == (300, 0, 3, "committed")
    assert isinstance(report, inrush.Report) and "300" in repr(report)
    assert ids(home) == before + list(range(300))
    assert hidden(home) == []
    # A second time it does nothing, with tokens or without.
    assert inrush.job.publish(job, tokens) == report == inrush.job.publish(str(job), [])
    again = begin(home, if_exists=if_exists)
    assert (again.state, again.id) == ("committed", home.job)
    assert inrush.job.publish(again, []) == report
    assert inrush.job.abort(job).state == "committed"
    assert ids(home) == before + list(range(300))


def test_a_batch_without_rows_ends_no_attempt(home):
    job = begin(home)
    chunks = pyarrow.concat_tables([part(0), part(0, rows=0), part(1)])
    assert inrush.job.publish(job, [inrush.job.write(job, chunks)]).rows_loaded == 200
    assert ids(home) == list(range(200))


def test_only_what_the_tokens_name_is_published(home):
    job = begin(home)
    written = [inrush.job.write(job, part(0)) for _ in range(3)]
    inrush.job.publish(job, [written[1]])
    assert ids(home) == list(range(100))
    assert hidden(home) == []


@pytest.mark.parametrize("kind", ["dicts", "tuples", "columns", "frame", "file", "generator"])
def test_rows_of_every_kind(home, tmp_path, kind):
    job = begin(home)
    rows = {
        "dicts": [{"id": 1, "name": "a"}, {"name": None, "id": 2}],
        "tuples": [(1, "a"), (2, None)],
        "columns": {"name": ["a", None], "id": (1, 2)},
        "frame": pyarrow.table({"id": [1, 2], "name": ["a", None]}),
        "file": tmp_path / "rows.csv",
        "generator": ((number, "a" if number == 1 else None) for number in (1, 2)),
    }[kind]
    (tmp_path / "rows.csv").write_text("id;name\n1;a\n2;\n")
    token = inrush.job.write(job, rows, **({"delimiter": ";"} if kind == "file" else {}))
    assert token.rows == 2
    inrush.job.publish(job, [token])
    assert sorted(home.read()[1]) == [(1, "a"), (2, None)]


def test_types_that_say_how_values_are_written_hold_for_every_attempt(home):
    schema = pyarrow.schema([("id", pyarrow.int64()), ("at", pyarrow.int64()), ("share", pyarrow.string())])
    types = {"at": "timestamp[ms]", "share": "percent"}
    job = inrush.job.begin(home.url, schema, table=home.table, job_id=home.job, types=types)
    frame = pyarrow.table({"id": [1], "at": [1_700_000_000_000], "share": ["25%"]}, schema=schema)
    tokens = [inrush.job.write(job, frame), inrush.job.write(job, [(2, 1_700_000_000_000, "25%")])]
    inrush.job.publish(job, tokens)
    assert home.values("at")[0] == home.values("at")[1]
    assert [float(share) for share in home.values("share")] == [0.25, 0.25]


def test_a_missing_token_is_noticed(home):
    job = begin(home, attempts=2)
    tokens = [inrush.job.write(job, part(number), partition=number) for number in range(2)]
    with pytest.raises(inrush.UsageError, match="2 attempts, and 1 token"):
        inrush.job.publish(job, tokens[:1])
    with pytest.raises(inrush.UsageError, match="None"):
        inrush.job.publish(job, [tokens[0], None])
    with pytest.raises(inrush.UsageError, match="twice"):
        inrush.job.publish(job, [tokens[0], tokens[0]])
    again = inrush.job.write(job, part(1), partition=1)
    with pytest.raises(inrush.UsageError, match="two tokens are of partition 1"):
        inrush.job.publish(job, [tokens[1], again])
    assert not home.exists()
    inrush.job.publish(job, [tokens[0], again])
    assert ids(home) == list(range(200))


def test_a_partition_without_a_token_is_noticed(home):
    job = begin(home)
    tokens = [inrush.job.write(job, part(number), partition=number) for number in range(3)]
    for given, missing in ((tokens[:2], 2), (tokens[1:], 0), ([], None)):
        with pytest.raises(inrush.UsageError, match="no token"):
            inrush.job.publish(job, given)
    inrush.job.publish(job, tokens)
    assert ids(home) == list(range(300))


def test_tokens_of_another_job_are_refused(home):
    job, other = begin(home), begin(home, job_id="other " + home.job)
    token = inrush.job.write(other, part(0))
    with pytest.raises(inrush.UsageError, match="token of job other"):
        inrush.job.publish(job, [token])
    with pytest.raises(inrush.UsageError, match="is one of table"):
        begin(home, table="another_" + home.table)
    for one in (job, other):
        assert inrush.job.abort(one).state == "aborted"


def test_another_version_is_refused(home):
    job = begin(home)
    text = str(job).replace(f'"version":"{inrush.__version__}"', '"version":"0.0.1"')
    with pytest.raises(inrush.UsageError, match="begun by inrush 0.0.1"):
        inrush.job.write(text, part(0))
    for wrong in ("{}", "no json", str(job)[:-1]):
        with pytest.raises(inrush.UsageError, match="no text of a job"):
            inrush.job.write(wrong, part(0))
    inrush.job.abort(job)


URL = "postgres://app@127.0.0.1:9/nowhere"


@pytest.mark.parametrize(
    "call",
    [
        lambda **wrong: inrush.job.begin(URL, SCHEMA, table="t", **wrong),
        lambda **wrong: inrush.job.begin(URL, like="x.csv", table="t", **wrong),
        lambda **wrong: inrush.job.begin_files(URL, "x.csv", table="t", **wrong),
        lambda **wrong: inrush.job.write("{}", "x.csv", **wrong),
        lambda **wrong: inrush.job.write("{}", [(1,)], **wrong),
        lambda **wrong: inrush.job.write("{}", split="{}", **wrong),
    ],
)
def test_wrong_keywords(call):
    """Nothing that is said is left out without a word."""
    for wrong in ("nul", "delimeter", "max_reject", "rejectz"):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{wrong}'"):
            call(**{wrong: "x"})
    for wrong in ("rejects", "lanes", "resume"):
        with pytest.raises(inrush.UsageError, match=f"^{wrong}: no job takes it"):
            call(**{wrong: "x"})


@pytest.mark.parametrize("rows", ["x.csv", [(1,)], None])
def test_what_begin_has_said_is_not_said_again(rows):
    for wrong in ("if_exists", "types", "on_conflict", "max_rejects", "durability"):
        with pytest.raises(inrush.UsageError, match=f"^{wrong}: begin"):
            inrush.job.write("{}", rows, **{wrong: "x"}, split=None if rows else "{}")


def test_how_files_are_written_is_for_files():
    with pytest.raises(inrush.UsageError, match="^delimiter: is for files.*like=FILE"):
        inrush.job.begin(URL, SCHEMA, table="t", delimiter=";")
    with pytest.raises(inrush.UsageError, match="^add: is for files"):
        inrush.job.write("{}", [(1,)], add={"b": 1})
    with pytest.raises(inrush.UsageError, match="^nulls: begin_files"):
        inrush.job.write("{}", split="{}", nulls="NA")


@pytest.mark.parametrize(
    "wrong",
    [
        *({"password": 5}, {"attempts": "3"}, {"attempts": 0}, {"connections": "8"}, {"connections": True}, {"job_id": 5}, {"guarantee": 5}),
        *({"max_rejects": "lots"}, {"key": 5}, {"rename": 5}),
    ],
)
def test_wrong_values(wrong):
    with pytest.raises(inrush.UsageError, match=next(iter(wrong))):
        inrush.job.begin(URL, SCHEMA, **{"table": "t", **wrong})


def test_wrong_texts():
    for wrong in ("garbage", "{}", "null", "[]"):
        for rows in ([(1,)], [{"a": 1}]):
            with pytest.raises(inrush.UsageError, match="no text of a job"):
                inrush.job.write(wrong, rows)
    for wrong in ({"partition": "0"}, {"partition": -1}):
        with pytest.raises(inrush.UsageError, match="partition"):
            inrush.job.write("{}", [(1,)], **wrong)
    for wrong in (5, [(1,)], [{"a": 1}], iter(())):
        with pytest.raises(inrush.UsageError, match="^schema"):
            inrush.job.begin(URL, wrong, table="t")
    for wrong in ("0", 0, 1.5):
        with pytest.raises(inrush.UsageError, match="parts"):
            inrush.job.begin_files(URL, "x.csv", table="t", parts=wrong)


@pytest.mark.parametrize("kind", ["named index", "left-out index", "objects", "intervals", "int128"])
def test_a_frame_is_begun_as_it_is_written(home, kind):
    if kind == "int128":
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame({"id": polars.Series([2**100], dtype=polars.Int128), "name": ["a"]})
    else:
        pandas = pytest.importorskip("pandas")
        frame = {
            "named index": lambda: pandas.DataFrame({"id": [1], "name": ["a"]}).set_index("id"),
            "left-out index": lambda: pandas.DataFrame({"id": [1], "name": ["a"]}, index=["x"]),
            "objects": lambda: pandas.DataFrame({"id": [1], "name": [["a"]]}),
            "intervals": lambda: pandas.DataFrame({"id": [1], "name": pandas.arrays.IntervalArray.from_tuples([(0, 1)])}),
        }[kind]()
    job = inrush.job.begin(home.url, frame, table=home.table, job_id=home.job)
    assert job.columns == ["id", "name"]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        token = inrush.job.write(job, frame)
    assert [("index has no name" in str(one.message)) for one in told] == ([True] if kind == "left-out index" else [])
    # One token is one.
    assert inrush.job.publish(job, token).rows_loaded == 1
    assert len(home.read()[1]) == 1


def test_advice_for_rows_of_a_job_names_what_it_takes(home):
    job = begin(home)
    Short = collections.namedtuple("Short", "id")
    for rows in ([Short(1)], [{"id": 1, "name": "a", "more": 2}], [{"id": 1, "name": "a", "v": 2}]):
        with pytest.raises(inrush.Error, match="column (name|more|v)") as caught:
            inrush.job.write(job, rows)
        *first, last = caught.value.advice
        assert last.removeprefix("or ").startswith("begin a job for ")
        assert [advice.startswith("write them with a column name") for advice in first] == [True] * isinstance(rows[0], Short)
        assert not {"add", "drop", "rename"} & set(re.findall(r"\w+", str(caught.value)))
    inrush.job.abort(job)


@pytest.mark.parametrize("guarantee", ["atomic", "per_partition"])
def test_rows_that_all_lack_a_column_of_the_job_are_refused(home, guarantee):
    """Also where the table has a value for those that lack it; a key that one row has is a column of all."""
    home.execute(f"create table {home.table} (id bigint primary key, name varchar(20) default 'none')")
    job = begin(home, guarantee=guarantee)
    for rows in ([{"id": 1}], iter([{"id": 2}]), {"id": [3]}, pyarrow.table({"id": [4]})):
        with pytest.raises(inrush.TargetError, match="the rows lack column name") as caught:
            inrush.job.write(job, rows, partition=0)
        assert caught.value.advice[0] == "write them with a column name, also where all of its values are NULL"
    rows = ([{"id": 1}, {"id": 2, "name": None}], [{"name": "c", "id": 3}], [{"NAME": "d", "id": 4}])
    tokens = [inrush.job.write(job, part, partition=number) for number, part in enumerate(rows)]
    inrush.job.publish(job, tokens)
    assert dict(zip(home.values("id"), home.values("name"))) == {1: None, 2: None, 3: "c", 4: "d"}


def test_documents_have_the_types_of_the_job(collection):
    job = begin(collection, max_rejects=3)
    tokens = [inrush.job.write(job, [{"id": 0, "name": "a"}, {"id": "bad", "name": "b"}]), inrush.job.write(job, [{"id": "7"}])]
    report = inrush.job.publish(job, tokens)
    assert [(row["column"], row["row"]) for row in report.rejected] == [("id", '{"id":"bad","name":"b"}')]
    with collection.connect_to(collection.url) as client:
        found = [*client[collection.database][collection.table].find({}, {"_id": 0}).sort("id")]
    assert found == [{"id": 0, "name": "a"}, {"id": 7}]


def test_a_failed_attempt_of_an_atomic_job_leaves_nothing(collection):
    """Its own table has gone with it, whatever had been committed there."""
    job = begin(collection)
    rows = [{"id": number, "name": "a"} for number in range(30_000)] + [{"id": "bad", "name": "b"}]
    with pytest.raises(inrush.RejectedRows) as caught:
        inrush.job.write(job, iter(rows))
    assert (caught.value.aftermath, caught.value.rows_committed) == ("nothing-changed", None)


def test_warnings_of_attempts_are_those_of_the_report(home):
    job = begin(home)
    rows = pyarrow.table({"id": [1], "name": [[float("nan")]]})
    tokens = [inrush.job.write(job, rows), inrush.job.write(job, rows)]
    report = inrush.job.publish(job, tokens)
    assert tokens[0].warnings and report.warnings == tokens[0].warnings
    assert "name" in report.warnings[0] and "inrush_job" not in report.warnings[0]


def test_a_password_is_refused_however_it_is_written(home):
    for login in (":#secret", ":?secret", ":secret#", ":se?cret", ":?a=secret", ":se/cret", ":se@cret"):
        with pytest.raises(inrush.UsageError, match="no job takes a password") as caught:
            inrush.job.begin(re.sub("//([^@/]*)@", rf"//\1{login}@", home.url), SCHEMA, table=home.table)
        assert "cret" not in str(caught.value)


def test_a_job_that_is_over_takes_no_rows(home):
    for end in (lambda job: inrush.job.publish(job, []), inrush.job.abort):
        job = begin(home, job_id=None)
        end(job)
        with pytest.raises(inrush.TargetError, match="takes no more rows"):
            inrush.job.write(job, part(0))
    with pytest.raises(inrush.TargetError, match="aborted"):
        inrush.job.publish(job, [])


def test_an_aborted_name_is_free(home):
    job = begin(home)
    inrush.job.write(job, part(0))
    inrush.job.abort(job)
    assert not home.exists() and hidden(home) == []
    again = begin(home)
    assert again.state == "open"
    with pytest.raises(inrush.TargetError, match="begun again"):
        inrush.job.write(job, part(1))
    inrush.job.publish(again, [inrush.job.write(again, part(2))])
    assert ids(home) == list(range(200, 300))


def test_a_name_that_is_taken_is_said_to_be(home):
    job = begin(home)
    with pytest.raises(inrush.TargetError, match="open already") as caught:
        begin(home)
    assert any("recover" in advice for advice in caught.value.advice)
    (listed,) = [one for one in inrush.job.list(home.url) if one["id"] == home.job]
    assert (listed["state"], listed["working"], listed["table"]) == ("open", False, home.table)
    assert inrush.job.recover(home.url, home.job).state == "aborted"
    inrush.job.publish(begin(home), [])
    with pytest.raises(inrush.UsageError, match="no job nowhere"):
        inrush.job.recover(home.url, "nowhere")
    with pytest.raises(inrush.TargetError, match="begun again"):
        inrush.job.publish(job, [])


def test_bad_rows_are_collected(home):
    home.execute(f"create table {home.table} (id bigint primary key, name varchar(3) not null)")
    rows = [(1, "a"), (2, None), (3, "abcd"), (1, "b"), (4, "d")]
    with pytest.raises(inrush.RejectedRows) as caught:
        inrush.job.write(begin(home), rows)
    assert home.table in str(caught.value) or "inrush_" not in str(caught.value)
    inrush.job.recover(home.url, home.job)
    job = begin(home, max_rejects=3)
    tokens = [inrush.job.write(job, rows, partition=0), inrush.job.write(job, [(5, "e")], partition=1)]
    assert [(bad["partition"], bad["record"], bad["code"]) for bad in tokens[0].rejected] == [
        (0, 2, "not-null"),
        (0, 3, "too-long"),
        (0, 4, "duplicate-key"),
    ]
    report = inrush.job.publish(job, tokens)
    assert (report.rows_loaded, report.rows_rejected, report.rejected) == (3, 3, tokens[0].rejected)
    assert ids(home) == [1, 4, 5]


def test_more_bad_rows_than_are_allowed_are_not_published(home):
    home.execute(f"create table {home.table} (id bigint, name varchar(3))")
    job = begin(home, max_rejects=1)
    tokens = [inrush.job.write(job, [(number, "abcd"), (number, "a")]) for number in range(2)]
    with pytest.raises(inrush.RejectedRows, match="2 rows of job .* are bad, and 1"):
        inrush.job.publish(job, tokens)
    assert home.count() == 0
    inrush.job.abort(job)


def test_keys_of_two_attempts_meet_at_publishing(home):
    home.execute(f"create table {home.table} (id bigint primary key, name text)")
    job = begin(home)
    tokens = [inrush.job.write(job, part(0)) for _ in range(2)]
    with pytest.raises(inrush.TargetError, match="(?i)duplicate") as caught:
        inrush.job.publish(job, tokens)
    assert "inrush_" not in str(caught.value) and caught.value.aftermath == "nothing-changed"
    assert home.count() == 0
    # With other tokens it can be published.
    inrush.job.publish(job, tokens[:1])
    assert ids(home) == list(range(100))


@pytest.mark.parametrize(("on_conflict", "name"), [("update", "new"), ("skip", "old"), ("replace", "new")])
def test_rows_that_repeat_a_key(home, on_conflict, name):
    home.execute(f"create table {home.table} (id bigint primary key, name varchar(9))")
    home.execute(f"insert into {home.table} values (1, 'old')")
    job = begin(home, on_conflict=on_conflict, key="id")
    tokens = [inrush.job.write(job, [(2, "old"), (1, "mid"), (2, "mid")]), inrush.job.write(job, [(2, "new"), (1, "new")])]
    report = inrush.job.publish(job, tokens)
    assert report.rows_read == report.rows_loaded + report.rows_skipped == 5
    assert sorted(home.read()[1]) == [(1, name), (2, name)]


def test_a_table_that_has_changed_is_not_published_into(home):
    home.execute(f"create table {home.table} (id bigint, name text)")
    job = begin(home)
    token = inrush.job.write(job, part(0))
    home.execute(f"alter table {home.table} add column more int")
    with pytest.raises(inrush.TargetError, match="has changed since"):
        inrush.job.publish(job, [token])
    home.execute(f"alter table {home.table} drop column more")
    inrush.job.publish(job, [token])
    assert home.count() == 100


def test_a_table_that_was_to_be_empty(home):
    home.execute(f"create table {home.table} (id bigint, name text)")
    job = begin(home, if_exists="empty")
    token = inrush.job.write(job, part(0))
    home.execute(f"insert into {home.table} values (1, 'x')")
    with pytest.raises(inrush.TargetError, match="now holds rows"):
        inrush.job.publish(job, [token])
    assert home.count() == 1
    inrush.job.abort(job)


def test_what_a_table_counts_by_itself(home):
    serial = "bigint auto_increment primary key" if isinstance(home, Mysql) else "bigserial primary key"
    home.execute(f"create table {home.table} (n {serial}, id bigint, name text, at timestamp default current_timestamp)")
    job = begin(home)
    inrush.job.publish(job, [inrush.job.write(job, part(number)) for number in range(2)])
    assert ids(home) == list(range(200))
    assert len(set(home.values("n"))) == 200 and None not in home.values("at")


def test_indexes_and_keys_of_a_new_table(home):
    job = begin(home, primary_key="id", indexes=[["id"]])
    inrush.job.publish(job, [inrush.job.write(job, part(number)) for number in range(3)])
    with pytest.raises(Exception, match="(?i)duplicate"):
        home.execute(f"insert into {home.table} values (1, 'x')")
    if isinstance(home, Postgres):
        with home.connect() as connection:
            sql = "select conname from pg_constraint where conrelid = %s::regclass and contype = 'p'"
            assert connection.execute(sql, [home.table]).fetchall() == [(f"{home.table}_pkey",)]
            logged = "select relpersistence from pg_class where oid = %s::regclass"
            assert connection.execute(logged, [home.table]).fetchone() == ("p",)


def test_passwords_do_not_travel(home):
    for url in (home.url.replace("://", "://app:secret@", 1), home.url + "&password=secret"):
        with pytest.raises(inrush.UsageError, match="password") as caught:
            inrush.job.begin(url, SCHEMA, table=home.table)
        assert "secret" not in str(caught.value)
    with pytest.raises(inrush.UsageError, match="INRUSH_TEST_NOTHING"):
        begin(home, password="env:INRUSH_TEST_NOTHING")
    os.environ["INRUSH_TEST_PASSWORD"] = "s3:c/r@t"
    url = home.url
    if isinstance(home, Mysql):
        home.execute(f"create user {home.table}@localhost identified by 's3:c/r@t'")
        home.execute(f"grant all on {home.database}.* to {home.table}@localhost")
        url = url.replace("root@", f"{home.table}@")
    job = inrush.job.begin(url, SCHEMA, table=home.table, password="env:INRUSH_TEST_PASSWORD")
    assert "s3" not in str(job)
    inrush.job.publish(job, [inrush.job.write(job, part(0))])
    assert home.count() == 100


def test_who_may_make_no_tables_is_told_so_before_anything_runs(home):
    home.execute(f"create table {home.table} (id bigint, name text)")
    user, url = f"u_{home.table}", home.url
    if isinstance(home, Mysql):
        home.execute(f"create user {user}@localhost")
        home.execute(f"grant select, insert on {home.database}.{home.table} to {user}@localhost")
        url = url.replace("root@", f"{user}@")
    else:
        home.execute(f"create role {user} login")
        home.execute(f"grant select, insert on {home.table} to {user}")
        url = url.replace("postgres@", f"{user}@")
    with pytest.raises(inrush.TargetError, match="(?i)make.* table") as caught:
        inrush.job.begin(url, SCHEMA, table=home.table)
    assert any("inrush load" in advice and "all or nothing" in advice for advice in caught.value.advice)
    assert home.count() == 0
    if isinstance(home, Postgres):
        home.execute(f"drop owned by {user}")
    home.execute(f"drop user {user}" + ("@localhost" if isinstance(home, Mysql) else ""))


def test_columns_that_do_not_fit(home):
    home.execute(f"create table {home.table} (id bigint, name text)")
    with pytest.raises(inrush.Error, match="other"):
        inrush.job.begin(home.url, pyarrow.schema([("id", pyarrow.int64()), ("other", pyarrow.string())]), table=home.table)
    job = begin(home)
    with pytest.raises(inrush.Error, match="other") as caught:
        inrush.job.write(job, [{"id": 1, "other": "x"}])
    assert "inrush_job" not in str(caught.value) + " ".join(caught.value.advice)
    inrush.job.abort(job)


def test_targets_without_jobs_say_what_to_do(tmp_path):
    for url, what in ((tmp_path / "a.db", "one writer"), (f"duckdb:{tmp_path}/a", "one writer"), (f"csv:{tmp_path}/a", "one writer")):
        with pytest.raises(inrush.UsageError, match=what) as caught:
            inrush.job.begin(str(url), SCHEMA, table="t")
        assert caught.value.advice
    assert list(tmp_path.iterdir()) == []


WRITES = """
import sys, pyarrow, inrush
job, number, then = sys.argv[1], int(sys.argv[2]), sys.argv[3]
def batches():
    for start in range(number * 100, (number + 1) * 100, 50):
        if then == "dies within" and start % 100 == 50:
            print("within", flush=True)
            sys.stdin.read()
        ids = list(range(start, start + 50))
        yield pyarrow.record_batch({"id": ids, "name": [f"n{one}" for one in ids]})
schema = pyarrow.schema([("id", pyarrow.int64()), ("name", pyarrow.string())])
token = inrush.job.write(job, pyarrow.RecordBatchReader.from_batches(schema, batches()), partition=number)
if then == "dies after":
    print("after", flush=True)
    sys.stdin.read()
print(token)
"""


@pytest.mark.parametrize("then", ["dies within", "dies after"])
def test_a_writer_that_is_killed_leaves_nothing(home, then):
    """And what it has written comes in by another attempt, once."""
    import subprocess

    job = begin(home)
    process = start(WRITES, job, 0, then, stdin=subprocess.PIPE)
    assert process.stdout.readline().strip() == then.split()[1]
    process.send_signal(signal.SIGKILL)
    process.wait()
    inrush.job.publish(job, [inrush.job.write(job, part(number), partition=number) for number in (0, 1)])
    assert ids(home) == list(range(200))


def test_a_job_whose_processes_are_gone_is_swept(home):
    import subprocess

    job = begin(home)
    process = start(WRITES, job, 0, "dies within", stdin=subprocess.PIPE)
    assert process.stdout.readline() == "within\n"
    # Who holds a lock is not gone, however old its last word is.
    assert inrush.job.gc(home.url, 0)["jobs"] == []
    with pytest.raises(inrush.TargetError, match="still writes"):
        inrush.job.recover(home.url, home.job)
    process.kill()
    process.wait()
    for _ in range(50):
        if home.job in inrush.job.gc(home.url, 0)["jobs"]:
            break
    assert hidden(home) == [] and not home.exists()
    assert begin(home).state == "open"
    inrush.job.recover(home.url, home.job)


def test_connections_are_waited_for(home):
    import subprocess

    job = begin(home, connections=1)
    process = start(WRITES, job, 0, "dies within", stdin=subprocess.PIPE)
    assert process.stdout.readline() == "within\n"
    other = start(WRITES, job, 1, "lives", stdin=subprocess.DEVNULL)
    with pytest.raises(subprocess.TimeoutExpired):
        other.wait(timeout=1)
    process.stdin.close()
    tokens = [one.stdout.read().strip() for one in (process, other)]
    assert (process.wait(), other.wait()) == (0, 0)
    inrush.job.publish(job, tokens)
    assert ids(home) == list(range(200))


def test_a_zombie_adds_nothing(home):
    """An attempt that goes on after its job is published."""
    import subprocess

    job = begin(home)
    zombie = start(WRITES, job, 0, "dies within", stdin=subprocess.PIPE)
    assert zombie.stdout.readline() == "within\n"
    inrush.job.publish(job, [inrush.job.write(job, part(0), partition=0)])
    _, said = zombie.communicate("")
    assert zombie.returncode != 0 and ("takes no more rows" in said or home.table in said)
    assert ids(home) == list(range(100))


@pytest.mark.parametrize("mode", ["new", "existing"])
def test_files_are_cut_for_attempts(home, tmp_path, mode):
    """Also where values hold line breaks; a bad row has its line in the file, whichever part it is in."""
    path = tmp_path / "rows.csv"
    path.write_text("id,name\n" + "".join(f'{one},"n\n{one}"\n' for one in range(300)) + "x,y\n")
    if mode == "existing":
        home.execute(f"create table {home.table} (id bigint, name varchar(20))")
    types = {"id": "integer", "name": "text"} if mode == "new" else None
    options = {"table": home.table, "job_id": home.job, "max_rejects": 1, "types": types}
    job, parts = inrush.job.begin_files(home.url, path, parts=4, **options)
    assert len(parts) == 4 and "\n" not in parts[0]
    tokens = [inrush.job.write(str(job), split=part) for part in reversed(parts)]
    with pytest.raises(inrush.UsageError, match="4 attempts, and 3 tokens"):
        inrush.job.publish(job, tokens[1:])
    report = inrush.job.publish(job, tokens)
    assert [(bad["line"], bad["record"], bad["column"]) for bad in report.rejected] == [(602, 301, "id")]
    assert sorted(home.read()[1]) == [(one, f"n\n{one}") for one in range(300)]
    # Loaded already: there is nothing to write.
    again, none = inrush.job.begin_files(home.url, path, parts=4, **options)
    assert (again.state, none) == ("committed", []) and inrush.job.publish(again, []) == report


def test_a_part_of_another_file_is_refused(home, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,name\n1,a\n2,b\n")
    job, parts = inrush.job.begin_files(home.url, [path], table=home.table, job_id=home.job, parts=2)
    path.write_text("id,name\n1,a\n2,b\n3,c\n")
    with pytest.raises(inrush.SourceError, match="has changed since it was split"):
        inrush.job.write(job, split=parts[0])
    for wrong in ({"batches": [(1, "a")], "split": parts[0]}, {}):
        with pytest.raises(inrush.UsageError, match="either rows, or split=PART"):
            inrush.job.write(job, **wrong)
    with pytest.raises(inrush.UsageError, match="not the text of a split"):
        inrush.job.write(job, split="{}")
    with pytest.raises(inrush.UsageError, match="parts: 0 is no number"):
        inrush.job.begin_files(home.url, path, table=home.table, parts=0)
    inrush.job.abort(job)


@pytest.mark.parametrize("mode", ["new", "existing"])
def test_partitions_are_seen_once_each_is_written(home, mode):
    if mode == "existing":
        home.execute(f"create table {home.table} (id bigint primary key, name text)")
        home.execute(f"insert into {home.table} values (-1, 'old')")
    before = [-1] if mode == "existing" else []
    job = begin(home, guarantee="per_partition", primary_key="id" if mode == "new" else None)
    assert ids(home) == before and job.guarantee == "per_partition"
    first = inrush.job.write(str(job), part(0), partition=0)
    assert ids(home) == before + list(range(100))
    again = inrush.job.write(job, part(0), partition=0)
    assert (first.already_written, again.already_written, again.attempt) == (False, True, first.attempt)
    second = inrush.job.write(job, part(1), partition=1)
    assert ids(home) == before + list(range(200))
    with pytest.raises(inrush.UsageError, match="no token is of it"):
        inrush.job.publish(job, [first])
    report = inrush.job.publish(job, [again, second])
    assert (report.guarantee, report.publish, report.rows_loaded, report.attempts) == ("per_partition", "insert", 200, 2)
    assert inrush.job.publish(job, []) == report and hidden(home) == []
    assert begin(home, guarantee="per_partition").state == "committed"
    with pytest.raises(inrush.TargetError, match="takes no more rows"):
        inrush.job.write(job, part(2), partition=2)
    assert ids(home) == before + list(range(200))


def test_a_job_goes_on_behind_its_partitions(home):
    job = begin(home, guarantee="per_partition", attempts=3)
    inrush.job.write(job, part(0), partition=0)
    inrush.job.write(job, part(1), partition=1)
    ended = inrush.job.abort(job)
    assert (ended.state, ended.visible) == ("aborted", {"partitions": 2, "rows": 200})
    # A sweep does not forget them, and an attempt of before adds nothing.
    inrush.job.gc(home.url, 0)
    again = begin(home, guarantee="per_partition", attempts=3)
    assert (again.state, again.visible) == ("open", {"partitions": 2, "rows": 200})
    with pytest.raises(inrush.TargetError, match="begun again"):
        inrush.job.write(job, part(2), partition=2)
    tokens = [inrush.job.write(again, part(number), partition=number) for number in range(3)]
    assert [token.already_written for token in tokens] == [True, True, False]
    report = inrush.job.publish(again, tokens)
    assert (report.rows_loaded, report.rows_read, report.attempts) == (300, 300, 3)
    assert ids(home) == list(range(300)) and hidden(home) == []


def test_a_job_that_is_not_the_same_does_not_go_on(home):
    job = begin(home, guarantee="per_partition", attempts=3)
    inrush.job.write(job, part(0), partition=0)
    inrush.job.abort(job)
    for other, words in (
        ({"guarantee": "atomic"}, 'begun with guarantee="per_partition"'),
        ({"guarantee": "per_partition", "attempts": 4}, "3 parts, and now are in 4"),
        ({"guarantee": "per_partition", "if_exists": "replace"}, "can be seen before"),
        ({"guarantee": "some"}, "'some' is none of atomic, per_partition, none"),
    ):
        with pytest.raises(inrush.UsageError, match=words):
            begin(home, **other)
    home.execute(f"drop table {home.table}")
    with pytest.raises(inrush.TargetError, match="which is gone"):
        begin(home, guarantee="per_partition", attempts=3)
    home.execute("delete from inrush_jobs")


def test_parts_of_files_that_have_changed_do_not_go_on(home, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,name\n" + "".join(f"{one},n{one}\n" for one in range(300)))
    options = {"table": home.table, "job_id": home.job, "parts": 3, "guarantee": "per_partition"}
    job, parts = inrush.job.begin_files(home.url, path, **options)
    inrush.job.write(job, split=parts[0])
    inrush.job.abort(job)
    again, parts = inrush.job.begin_files(home.url, path, **options)
    tokens = [inrush.job.write(again, split=part) for part in parts]
    assert [token.already_written for token in tokens] == [True, False, False]
    inrush.job.abort(again)
    path.write_text("id,name\n" + "".join(f"{one},m{one}\n" for one in range(300)))
    changed, parts = inrush.job.begin_files(home.url, path, **options)
    with pytest.raises(inrush.UsageError, match="read from other bytes"):
        inrush.job.write(changed, split=parts[0])
    inrush.job.abort(changed)
    assert ids(home) == list(range(300))
    home.execute("delete from inrush_jobs")


def test_bad_rows_of_partitions_are_known_when_the_job_goes_on(home):
    home.execute(f"create table {home.table} (id bigint primary key, name varchar(3))")
    options = {"guarantee": "per_partition", "max_rejects": 1}
    rows = [[(1, "a"), (2, "abcd")], [(3, "c"), (4, "abcd")]]
    job = begin(home, **options)
    token = inrush.job.write(job, rows[0], partition=0)
    inrush.job.abort(job)
    job = begin(home, **options)
    tokens = [inrush.job.write(job, rows[number], partition=number) for number in range(2)]
    assert tokens[0].rejected == token.rejected
    with pytest.raises(inrush.RejectedRows, match="2 rows of job .* are bad, and 1") as caught:
        inrush.job.publish(job, tokens)
    assert caught.value.aftermath == "committed" and ids(home) == [1, 3]
    # A partition that can't come in leaves no row of itself.
    with pytest.raises(inrush.TargetError, match="(?i)duplicate"):
        inrush.job.write(job, [(5, "e"), (1, "a")], partition=2)
    assert ids(home) == [1, 3]
    inrush.job.abort(job)
    home.execute("delete from inrush_jobs")


def test_without_a_guarantee_rows_are_there_at_once(home):
    job = begin(home, guarantee="none")
    token = inrush.job.write(job, part(0))
    assert ids(home) == list(range(100))
    inrush.job.write(job, part(0))
    assert home.count() == 200
    report = inrush.job.publish(job, [token])
    assert (report.guarantee, report.publish, report.rows_loaded) == ("none", "load", 100)
    assert begin(home, guarantee="none").state == "committed" and hidden(home) == []


@pytest.mark.parametrize("then", ["dies within", "dies after"])
def test_a_writer_that_is_killed_adds_its_partition_once(home, then):
    import subprocess

    job = begin(home, guarantee="per_partition")
    process = start(WRITES, job, 0, then, stdin=subprocess.PIPE)
    assert process.stdout.readline().strip() == then.split()[1]
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert home.count() == (100 if then == "dies after" else 0)
    tokens = [inrush.job.write(job, part(number), partition=number) for number in (0, 1)]
    assert tokens[0].already_written == (then == "dies after")
    inrush.job.publish(job, tokens)
    assert ids(home) == list(range(200))


def test_bad_rows_of_a_job_that_is_refused_are_with_the_error(home):
    home.execute(f"create table {home.table} (id bigint primary key, name varchar(3))")
    job = begin(home, if_exists="append", max_rejects="1%")
    rows = pyarrow.table({"id": [1, 2], "name": ["a", "too long"]}, schema=SCHEMA)
    token = inrush.job.write(job, rows)
    with pytest.raises(inrush.RejectedRows, match="1 row of 2 of job") as caught:
        inrush.job.publish(job, [token])
    assert [(row.position, row.column) for row in caught.value.rows] == [(2, "name")]
    inrush.job.abort(job)
