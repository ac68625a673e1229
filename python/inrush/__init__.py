"""Moves rows and files into databases as fast as each database allows, and loses no row silently.

>>> import inrush, tempfile, os
>>> target = os.path.join(tempfile.mkdtemp(), "people.db")
>>> report = inrush.write([{"id": 1, "name": "Ada"}, {"id": 2, "name": "Grace"}], target, table="people")
>>> report.rows_loaded
2

`load`, `plan` and `check` are for files, `write` and `Writer` for rows of the program. All of them take the options of the command
of the same name, with underscores. `inrush.job` is for rows that several processes write into one table.
"""

from typing import TYPE_CHECKING

from ._api import check, load, plan, write
from ._errors import (
    Error,
    Interrupted,
    RejectedRow,
    RejectedRows,
    SourceError,
    TargetError,
    UsageError,
    VerifyError,
)
from ._inrush import version as _version
from ._result import Check, Plan, Report
from ._writer import Writer

__version__ = _version()


if TYPE_CHECKING:
    from . import job as job
else:

    def __getattr__(name):
        # What few programs need is imported when it is used: `import inrush` is to take no longer than it must.
        if name == "job":
            import importlib

            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


__all__ = [
    "Check",
    "Error",
    "Interrupted",
    "Plan",
    "RejectedRow",
    "RejectedRows",
    "Report",
    "SourceError",
    "TargetError",
    "UsageError",
    "VerifyError",
    "Writer",
    "check",
    "load",
    "plan",
    "write",
]
