"""What is known before a load and after it. The attributes are the keys of the command's `--json`."""

from __future__ import annotations

# json and html are imported where they are used: `import inrush` is to take no longer than it must.
from typing import Any, Iterable

from ._errors import _for_python


class _Told:
    """What JSON tells, by attributes."""

    _data: dict[str, Any]

    def __init__(self, told: str | dict[str, Any]) -> None:
        import json

        self._data = json.loads(told) if isinstance(told, str) else told
        if isinstance(told, str):
            for about in (self._data, self._data.get("plan", {})):
                for words in about.keys() & {"warnings", "reasons"}:
                    about[words] = [_for_python(said) for said in about[words]]

    def to_dict(self) -> dict[str, Any]:
        """All of it, with the keys of `--json`."""
        import json

        copied: dict[str, Any] = json.loads(json.dumps(self._data))
        return copied

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_data"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'") from None

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self._data]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, _Told) and self._data == other._data

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return (type(self), (self.to_dict(),))


def _table(rows: list[tuple[str, Any]]) -> str:
    import html

    cells = (f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows)
    return "<table>" + "".join(cells) + "</table>"


class Plan(_Told):
    """What a load will do, and why. `print(plan)` explains it. docs/report.md says what each attribute is."""

    source: list[str]
    target: str
    table: str
    strategy: str
    knobs: dict[str, Any]
    columns: list[dict[str, Any]]
    dialect: dict[str, Any] | None
    durability: str
    atomic: bool
    guarantee: str
    commit_rows: int | None
    lanes: int
    encoders: int
    chunk_bytes: int
    memory_ceiling_bytes: int
    reasons: list[str]
    measured: dict[str, Any] | None
    proposals: list[dict[str, Any]]
    #: Of `inrush.plan` only.
    options: list[dict[str, Any]]

    def __init__(self, told: str | dict[str, Any], words: str = "", options: list[dict[str, Any]] | None = None) -> None:
        super().__init__(told)
        self._words = _for_python(words)
        if options is not None:
            self._data["options"] = options

    def __str__(self) -> str:
        import json

        return self._words or json.dumps(self._data, indent=2)

    def __repr__(self) -> str:
        return f"<Plan: {self._data['strategy']} into {self._data['table']}>"

    def __reduce__(self) -> Any:
        return (type(self), (self.to_dict(), self._words))

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>"


class Report(_Told):
    """What a load did. docs/report.md says what each attribute is.

    >>> import inrush, tempfile, os
    >>> target = os.path.join(tempfile.mkdtemp(), "t.db")
    >>> report = inrush.write([{"id": 1}], target, table="t")
    >>> report.rows_read == report.rows_loaded + report.rows_rejected
    True
    >>> report.plan.table
    't'
    """

    version: str
    plan: Plan
    rows_read: int
    rows_loaded: int
    rows_rejected: int
    rows_skipped: int
    rows_inserted: int | None
    rows_updated: int | None
    inputs: list[dict[str, Any]]
    bytes_read: int
    seconds: dict[str, float]
    rows_per_second: float
    mb_per_second: float
    stages: list[dict[str, Any]]
    verify: dict[str, Any]
    durability_read_back: dict[str, Any]
    rejects: list[str]
    steps: dict[str, Any] | None
    warnings: list[str]

    def __init__(self, told: str | dict[str, Any], words: str = "", notes: Iterable[str] = ()) -> None:
        super().__init__(told)
        # Of what was found before there was a load.
        self._data["warnings"] += notes
        #: What was decided.
        self.plan = Plan(self._data["plan"], words)

    def __repr__(self) -> str:
        data = self._data
        return (
            f"<Report: {data['rows_loaded']:,} rows into {data['plan']['table']}, "
            f"{data['rows_rejected']:,} rejected, {data['seconds']['total']:.2f} s>"
        )

    def __reduce__(self) -> Any:
        return (type(self), (self.to_dict(), self.plan._words))

    def _repr_html_(self) -> str:
        data = self._data
        rows = [
            ("rows loaded", f"{data['rows_loaded']:,}"),
            ("rows rejected", f"{data['rows_rejected']:,}"),
            ("table", data["plan"]["table"]),
            ("strategy", data["plan"]["strategy"]),
            ("seconds", f"{data['seconds']['total']:.2f}"),
            ("rows a second", f"{data['rows_per_second']:,.0f}"),
            ("verified", data["verify"]["method"] if data["verify"]["ok"] else "no"),
        ]
        rows += [("warning", warning) for warning in data["warnings"]]
        return _table(rows)


class JobReport(Report):
    """What a job did."""

    def __init__(self, told: str | dict[str, Any]) -> None:
        _Told.__init__(self, told)

    def __repr__(self) -> str:
        data = self._data
        return (
            f"<JobReport: {data['rows_loaded']:,} rows into {data['table']} by {data['attempts']} attempts, "
            f"{data['rows_rejected']:,} rejected>"
        )

    def __reduce__(self) -> Any:
        return (type(self), (self.to_dict(),))

    def _repr_html_(self) -> str:
        data = self._data
        rows = [("rows loaded", f"{data['rows_loaded']:,}"), ("rows rejected", f"{data['rows_rejected']:,}")]
        rows += [("table", data["table"]), ("attempts", str(data["attempts"])), ("job", data["job"])]
        return _table(rows)


class Check(_Told):
    """What a check found."""

    version: str
    source: list[str]
    target: str | None
    table: str
    makes_table: bool
    dialect: dict[str, Any]
    rows_read: int
    rows_good: int
    rows_bad: int
    columns: list[dict[str, Any]]
    create_table: str | None
    bad_rows: list[dict[str, Any]]
    rejects: list[str]
    bytes_read: int
    seconds: float
    mb_per_second: float
    warnings: list[str]

    def __repr__(self) -> str:
        data = self._data
        return f"<Check: {data['rows_read']:,} rows, {data['rows_bad']:,} bad>"

    def _repr_html_(self) -> str:
        data = self._data
        return _table([("rows", f"{data['rows_read']:,}"), ("bad rows", f"{data['rows_bad']:,}")])
