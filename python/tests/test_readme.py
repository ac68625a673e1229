"""The examples of the README and of docs/python.md that say it in Python."""

import re
from pathlib import Path

import pytest
from conftest import Postgres

ROOT = Path(__file__).parents[2]
POSTGRES = "postgres://ana@localhost/crm"


def blocks(name):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(), re.DOTALL | re.MULTILINE)


def test_readme(tmp_path, monkeypatch, capsys, database):
    pytest.importorskip("polars")
    if not isinstance(database, Postgres):
        pytest.skip("the README's server is PostgreSQL")
    monkeypatch.chdir(tmp_path)
    (block,) = blocks("README.md")
    database.table = "people"
    exec(compile(block.replace(POSTGRES, database.url), "README.md", "exec"), {})
    assert capsys.readouterr().out == "1000000\n"
    assert database.read() == (["id", "name"], [(1, "Ada"), (2, "Grace")])


def test_every_example_of_the_page_is_python():
    found = blocks("docs/python.md")
    assert len(found) >= 6
    for block in found:
        compile(block, "docs/python.md", "exec")
