"""Saving results as files."""

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.components.files.saving import SaveFile, to_csv
from headgate.foundation.errors import Cancelled
from headgate.sdk import ComponentError, Table
from headgate.sdk.testing import StepHarness

TABLE = Table(columns=["name", "n"], rows=[["a|b", 1], ["<b>", None]])


async def saved(content: object, name: str, **params: Any) -> tuple[str, str]:
    harness = StepHarness()
    outputs = await harness.run(SaveFile, {"content": content, "name": name, **params})
    body = await harness.ctx.files.read(outputs["file"])
    assert outputs["file"] == harness.ctx.files.saved[0]
    return body.decode("utf-8-sig"), outputs["file"].media_type


class TestSaveFile:
    @pytest.mark.parametrize(
        ("content", "name", "body", "media_type"),
        [
            ("hi", "a.txt", "hi", "text/plain"),
            ("# hi", "a.md", "# hi", "text/markdown"),
            ("print(1)", "a.py", "print(1)", "text/x-python"),
            ("hi", "a", "hi", "text/plain"),
            ({"ä": 1}, "a.json", '{\n  "ä": 1\n}\n', "application/json"),
            ({"a": 1}, "a.md", '```json\n{\n  "a": 1\n}\n```\n', "text/markdown"),
            ([{"a": 1}], "a.md", "| a |\n| --- |\n| 1 |\n", "text/markdown"),
            (TABLE, "a.md", "| name | n |\n| --- | --- |\n| a\\|b | 1 |\n| <b> |  |\n", "text/markdown"),
            (TABLE, "a.csv", "name,n\r\na|b,1\r\n<b>,\r\n", "text/csv"),
            ([1, [2]], "a.csv", "value\r\n1\r\n[2]\r\n", "text/csv"),
            ({"a": 1, "b": True}, "a.csv", "a,b\r\n1,true\r\n", "text/csv"),
        ],
    )
    async def test_writes_what_the_extension_says(self, content: object, name: str, body: str, media_type: str) -> None:
        assert await saved(content, name) == (body, media_type)

    async def test_writes_a_table_as_json_records(self) -> None:
        body, _ = await saved(TABLE, "a.json")
        assert json.loads(body) == [{"name": "a|b", "n": 1}, {"name": "<b>", "n": None}]

    async def test_shows_foreign_html_as_text(self) -> None:
        body, media_type = await saved("<script>alert(1)</script>", '"><script>.html')
        assert media_type == "text/html"
        assert "<script>" not in body
        assert "&lt;script&gt;alert(1)" in body
        table, _ = await saved(TABLE, "a.html")
        assert "<td>&lt;b&gt;</td><td></td>" in table

    async def test_writes_trusted_html_as_it_is(self) -> None:
        assert (await saved("<h1>x</h1>", "a.html", trusted_html=True))[0] == "<h1>x</h1>"

    async def test_refuses_a_table_in_a_format_it_does_not_know(self) -> None:
        with pytest.raises(ComponentError) as caught:
            await saved(TABLE, "a.parquet")
        assert "'.parquet'" in str(caught.value)
        assert ".csv" in caught.value.remedy

    async def test_refuses_mixed_rows(self) -> None:
        with pytest.raises(Exception, match="item 1 is a number"):
            await saved([{"a": 1}, 2], "a.csv")

    async def test_makes_the_name_safe_and_says_so(self) -> None:
        harness = StepHarness()
        outputs = await harness.run(SaveFile, {"content": "x", "name": "../a:b.txt"})
        assert outputs["file"].name == "a-b.txt"
        assert "changed to a safe one" in harness.ctx.logs[0]

    async def test_saves_nothing_once_cancelled(self) -> None:
        harness = StepHarness()
        harness.ctx.cancelled = True
        with pytest.raises(Cancelled):
            await harness.run(SaveFile, {"content": "x"})
        assert harness.ctx.files.saved == []


class TestToCsv:
    def test_disarms_formulas(self) -> None:
        table = Table(columns=["=a"], rows=[["=1+1"], ["@x"], [-5], ["-5 degrees"], ["ok"]])
        assert to_csv(table).split("\r\n") == ["'=a", "'=1+1", "'@x", "-5", "'-5 degrees", "ok", ""]
        assert to_csv(table, spreadsheet_safe=False).split("\r\n")[1] == "=1+1"

    @given(st.lists(st.lists(st.text(st.characters(codec="utf-8")), min_size=2, max_size=2), max_size=5))
    def test_reads_back_as_it_was(self, rows: list[Any]) -> None:
        text = to_csv(Table(columns=["a", "b"], rows=rows), spreadsheet_safe=False)
        assert list(csv.reader(io.StringIO(text, newline="")))[1:] == rows
