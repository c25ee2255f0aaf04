"""Values in queries are data, whatever is in them."""

import sqlite3

import jmespath
import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from headgate.foundation.errors import Invalid
from headgate.graph.embedding import embed
from headgate.graph.template import Syntax

HOSTILE = (
    "SE", "x' OR '1'='1", "O'Brien", '"; DROP TABLE t; --', "`", "\\", "a\\'b", "%", "--", "/*", "é\n", "12", "007",
)  # fmt: skip
plain = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)


def embedded(text: str, value: JsonValue, syntax: Syntax) -> str:
    return str(embed(text, {"flow_input": {"x": value}}, syntax))


class TestSql:
    def select(self, text: str, value: JsonValue) -> object:
        return sqlite3.connect(":memory:").execute(embedded(text, value, "sql")).fetchone()[0]

    @given(plain)
    def test_text_in_quotes_is_that_text(self, value: str) -> None:
        assert self.select("SELECT '{{flow_input.x}}'", value) == value
        assert self.select("SELECT 'a {{flow_input.x}}' || '''{{flow_input.x}}'", value) == f"a {value}'{value}"

    @pytest.mark.parametrize("value", [value for value in HOSTILE if value != "12"])
    def test_text_outside_quotes_is_a_literal(self, value: str) -> None:
        assert self.select("SELECT {{flow_input.x}}", value) == value

    @pytest.mark.parametrize(("value", "result"), [(3, 3), (1.5, 1.5), ("12", 12), (None, None), (True, 1), ("", "")])
    def test_numbers_and_null_outside_quotes_are_themselves(self, value: JsonValue, result: object) -> None:
        assert self.select("SELECT {{flow_input.x}}", value) == result

    def test_a_list_is_written_in_brackets(self) -> None:
        assert embedded("SELECT 'b' IN {{flow_input.x}}", ["a'", "b", 3], "sql") == "SELECT 'b' IN ('a''', 'b', 3)"

    def test_a_column_is_named_in_double_quotes(self) -> None:
        query = 'SELECT a FROM (SELECT 2 AS a UNION ALL SELECT 1) ORDER BY "{{flow_input.x}}"'
        assert self.select(query, "a") == 1
        assert self.select('SELECT 1 AS "{{flow_input.x}}"', 'q"t') == 1

    def test_text_where_a_column_is_expected_is_refused(self) -> None:
        with pytest.raises(Invalid, match="cannot name a column") as refused:
            embedded("SELECT a FROM t ORDER BY {{flow_input.x}}", "a", "sql")
        assert 'ORDER BY "{{flow_input.column}}"' in refused.value.remedy

    def test_a_comment_gets_nothing(self) -> None:
        assert self.select("SELECT 1 -- {{flow_input.x}}", "\n UNION SELECT 2") == 1
        assert self.select("SELECT /* {{flow_input.x}} */ 1", "*/ 2; --") == 1


class TestJmesPath:
    @given(plain)
    def test_text_in_quotes_is_that_text(self, value: str) -> None:
        query = embedded("[?name=='{{flow_input.x}}'] | [0].id", value, "jmespath")
        assert jmespath.search(query, [{"name": "other", "id": 1}, {"name": value, "id": 2}]) == 2

    @pytest.mark.parametrize("value", [*HOSTILE, 3, None, [1], {"a": "`'"}])
    def test_a_value_outside_quotes_is_itself(self, value: JsonValue) -> None:
        assert jmespath.search(embedded("[{{flow_input.x}}]", value, "jmespath"), {}) == [value]

    @pytest.mark.parametrize("value", HOSTILE)
    def test_a_name_and_a_json_value(self, value: str) -> None:
        assert jmespath.search(embedded('a."{{flow_input.x}}"', value, "jmespath"), {"a": {value: 5}}) == 5
        assert jmespath.search(embedded('`["{{flow_input.x}}"]`', value, "jmespath"), {}) == [value]


class TestRegularExpression:
    @given(plain)
    def test_text_is_matched_literally(self, value: str) -> None:
        assert re2.fullmatch(embedded("<{{flow_input.x}}>", value, "re2"), f"<{value}>")


class TestAll:
    @pytest.mark.parametrize("syntax", ["sql", "jmespath", "re2", "url", ""])
    def test_a_text_that_is_one_reference_is_the_value(self, syntax: Syntax) -> None:
        assert embedded("{{flow_input.x}}", "SELECT 1", syntax) == "SELECT 1"

    @pytest.mark.parametrize("syntax", ["sql", "jmespath", "re2"])
    def test_what_does_not_resolve_stays(self, syntax: Syntax) -> None:
        assert embedded("a {{flow_input.y}} b", "v", syntax) == "a {{flow_input.y}} b"
