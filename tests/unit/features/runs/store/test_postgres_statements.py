"""The statements of runs on PostgreSQL, as texts."""

import pytest

from headgate.features.runs.store import postgres_statements

LONGEST_KEPT = 4096
"""Characters up to which psycopg keeps what it worked out for a statement (`psycopg._queries`)."""
STATEMENTS = {name: text for name, text in vars(postgres_statements).items() if "%(run_id)s" in str(text)}


ONCE_A_RUN = frozenset({"FINISH"})
"""Statements that are longer: with its events FINISH is, and costs 70 microseconds more once a run."""


class TestStatements:
    @pytest.mark.parametrize(
        "name", sorted(name for name in STATEMENTS if name.isupper() and name[0] != "_" and name not in ONCE_A_RUN)
    )
    def test_are_short_enough_to_be_read_once(self, name: str) -> None:
        assert len(STATEMENTS[name]) <= LONGEST_KEPT
