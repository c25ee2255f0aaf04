"""Which tests `make test` runs; `make test-faults` runs all of them.

- A `campaign` (random deaths, long simulations, every combination of something) is left to `make test-faults`.
- A test that comes once for each database runs on one of them, which follows from its name. Those marked
  `both_databases` run on both: their subject is what differs, such as locks, claims, search and migrations.
  Besides these, every repository function is called on both by the tests of isolation, and every route on PostgreSQL.

`-m` selects from all of them.
"""

from collections import defaultdict
from collections.abc import Sequence
from zlib import crc32

import pytest

from tests.support.properties import THOROUGH

DATABASES = ("sqlite", "postgres")
MARKERS = (
    "postgres: needs the PostgreSQL server that comes with the development packages",
    "campaign: long or random; `make test-faults` runs it",
    "both_databases: runs on both databases in `make test` too",
)


def left_out(config: pytest.Config, items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The tests that this run leaves out."""
    if THOROUGH or config.option.markexpr:
        return []
    kinds: defaultdict[str, set[str]] = defaultdict(set)
    for item in items:
        kinds[_without_database(item)].add(_database(item))
    return [
        item
        for item in items
        if item.get_closest_marker("campaign")
        or (len(kinds[name := _without_database(item)]) > 1 and _database(item) != _chosen(name))
    ]


def _database(item: pytest.Item) -> str:
    """The database of a test that comes once for each; empty for another test."""
    cases = getattr(item, "callspec", None)
    kind = cases.params.get("settings") if cases else None
    return kind if kind in DATABASES and not item.get_closest_marker("both_databases") else ""


def _without_database(item: pytest.Item) -> str:
    name, _, cases = item.nodeid.partition("[")
    kind = _database(item)
    return f"{name}[{cases.replace(kind, '', 1)}" if kind else item.nodeid


def _chosen(name: str) -> str:
    return DATABASES[crc32(name.encode()) % len(DATABASES)]
