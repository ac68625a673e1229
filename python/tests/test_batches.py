"""Batches of other programs as one stream: each as it says it is, or refused."""

import datetime as dt

import pytest

import inrush

pyarrow = pytest.importorskip("pyarrow")

from inrush._batches import reader_of  # noqa: E402


def batch(**columns):
    return pyarrow.RecordBatch.from_pydict(columns)


def rows(*batches, **options):
    return reader_of(batches, **options).read_all().to_pydict()


def test_columns_are_found_by_their_names():
    assert rows(batch(first=["Ada"], last=["Lovelace"]), batch(last=["Hopper"], first=["Grace"])) == {
        "first": ["Ada", "Grace"],
        "last": ["Lovelace", "Hopper"],
    }
    with pytest.raises(inrush.UsageError, match="a batch has columns a, and those before it a, b"):
        rows(batch(a=[1], b=[2]), batch(a=[10]))


def test_values_of_another_type_are_the_same_values_or_refused():
    assert rows(batch(v=[0.5]), batch(v=[1, 2])) == {"v": [0.5, 1.0, 2.0]}
    assert rows(batch(v=[1]), batch(v=[2.0, None])) == {"v": [1, 2, None]}
    texts = batch(v=["a"]), batch(v=pyarrow.array([None])), batch(v=pyarrow.array(["b"]).dictionary_encode())
    assert rows(*texts) == {"v": ["a", None, "b"]}
    day, moment = dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 5)
    single = pyarrow.array([0.5], pyarrow.float32())
    for first, second in [
        ([1], [0.5]),
        ([0.5], [2**53 + 1]),
        (single, [0.1]),
        (["a"], [[1]]),
        ([day], [moment]),
        ([moment], [moment.replace(tzinfo=dt.timezone.utc)]),
        ([moment], ["2024-01-01"]),
        ([True], [5]),
        ([1], [True]),
        ([1], ["007"]),
        (["a"], [1.0]),
    ]:
        with pytest.raises(inrush.UsageError, match="column v is .* give all of them one type"):
            rows(batch(v=first), batch(v=second))


def test_what_is_said_of_the_columns_holds_for_the_first_batch_too():
    columns = pyarrow.schema([("v", pyarrow.float64())])
    assert rows(batch(v=[1]), batch(v=[0.5]), columns=columns) == {"v": [1.0, 0.5]}


def test_a_column_without_values_at_first_is_what_it_is_later(monkeypatch):
    nothing = pyarrow.array([None, None])
    got = reader_of([batch(v=nothing, w=[1, 2]), batch(w=[3], v=[None]), batch(v=["a"], w=[4]), batch(v=nothing, w=[5, 6])])
    assert got.schema.field("v").type == pyarrow.string()
    assert got.read_all().to_pydict() == {"v": [None, None, None, "a", None, None], "w": [1, 2, 3, 4, 5, 6]}
    assert rows(batch(v=nothing)) == {"v": [None, None]}
    # Not for longer than there is room for.
    monkeypatch.setattr("inrush._batches._AHEAD_MAX", 1)
    with pytest.raises(inrush.UsageError, match="column v is string in a batch, and null in those before it"):
        rows(batch(v=nothing, w=[1, 2]), batch(v=["a"], w=[3]))


def test_no_batch_is_no_stream():
    assert reader_of([]) is None
    assert rows(otherwise=pyarrow.schema([("v", pyarrow.int64())])) == {"v": []}
