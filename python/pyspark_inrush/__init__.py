"""The data source `inrush` of Spark 4, which finds it here: packages whose name begins with `pyspark_` are imported by every session.

df.write.format("inrush").option("url", "postgres://app@db/shop").option("table", "orders").mode("append").save()

What it does is in `inrush.spark`, which is imported when it is used, and not before.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql.datasource import DataSource  # type: ignore[import-not-found, unused-ignore]

__all__ = ["DefaultSource"]


class DefaultSource(DataSource):  # type: ignore[misc, unused-ignore]
    """Rows into a database: all of them or none, each once."""

    @classmethod
    def name(cls) -> str:
        return "inrush"

    def writer(self, schema: Any, overwrite: bool) -> Any:
        from inrush._spark_source import Writer

        return Writer(schema, overwrite, self.options)
