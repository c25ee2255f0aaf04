"""What errors of the drivers amount to."""

import sqlite3

import psycopg.errors
import pytest

from headgate.foundation.database import explain
from headgate.foundation.errors import DatabaseAway, DatabaseUnavailable


class TestExplain:
    @pytest.mark.parametrize(
        "error",
        [
            psycopg.errors.AdminShutdown("terminating connection due to administrator command"),
            psycopg.errors.CrashShutdown("terminating the process"),
            psycopg.errors.CannotConnectNow("the system is starting up"),
            psycopg.errors.ConnectionFailure("broken"),
            psycopg.OperationalError("connection refused"),
            psycopg.OperationalError("consuming input failed: server closed the connection unexpectedly"),
        ],
    )
    def test_a_server_that_is_away_is_known_in_all_its_words(self, error: Exception) -> None:
        assert isinstance(explain(error), DatabaseAway)

    @pytest.mark.parametrize("problem", ["database is locked", "database or disk is full", "disk I/O error"])
    def test_a_file_that_cannot_be_written_is_no_fault_of_who_writes(self, problem: str) -> None:
        assert type(explain(sqlite3.OperationalError(problem))) is DatabaseUnavailable

    def test_an_error_of_a_statement_is_not_explained(self) -> None:
        assert explain(psycopg.errors.UndefinedTable("relation does not exist")) is None
