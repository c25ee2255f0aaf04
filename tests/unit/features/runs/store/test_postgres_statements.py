"""The statements of runs on PostgreSQL, as texts."""

import re

import pytest

from headgate.features.runs.store import postgres_pool, postgres_statements

STATEMENTS = {
    name: text
    for name, text in vars(postgres_statements).items()
    if name.isupper() and name[0] != "_" and "%(run_id)s" in str(text)
}


class TestNumbered:
    def test_gives_each_name_one_number_in_the_order_of_the_text(self) -> None:
        statement = "SELECT %(b)s::int, %(a)s WHERE x = %(b)s"
        assert postgres_pool._numbered(statement) == ("SELECT $1::int, $2 WHERE x = $1", ("b", "a"))

    @pytest.mark.parametrize("name", sorted(STATEMENTS))
    def test_leaves_no_name_in_a_statement(self, name: str) -> None:
        text, names = postgres_pool._numbered(STATEMENTS[name])
        assert "%" not in text
        assert {int(number) for number in re.findall(r"\$(\d+)", text)} == set(range(1, len(names) + 1))
        assert {*names} == {*re.findall(r"%\((\w+)\)s", STATEMENTS[name])}

    @pytest.mark.parametrize("name", sorted(STATEMENTS))
    def test_is_worked_out_once(self, name: str) -> None:
        assert postgres_pool._numbered(STATEMENTS[name]) is postgres_pool._numbered(STATEMENTS[name])
