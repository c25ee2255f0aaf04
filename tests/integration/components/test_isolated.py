"""Content that attacks whoever reads it, read by the real processes: each attack ends, and leaves nothing behind."""

import asyncio
import base64
import io
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, cast

import psutil
import pytest
from pydantic import JsonValue

from headgate.components import isolated
from headgate.components.expressions import Matched
from headgate.components.files.workbooks import NamedTable, workbook
from headgate.components.isolated import calls
from headgate.components.readers.document import Unreadable
from headgate.graph.manifest import NOTHING
from headgate.sandbox.libraries import ISOLATED
from headgate.sandbox.limits import ISOLATED_LIMITS, ISOLATED_SIZE, MIB
from headgate.sandbox.pool import SandboxPool
from headgate.sdk import ComponentError, RunContext, Table
from headgate.sdk.fakes import FakeContext
from tests.unit.components.readers.samples import docx, pdf

SMALL = replace(ISOLATED_LIMITS, processor_seconds=1.0, wall_seconds=5.0, memory_bytes=512 * MIB)
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


Json = dict[str, JsonValue]


class Context(FakeContext):
    """A run context whose isolated calls are made as in the product."""

    pool: SandboxPool

    async def isolated(self, function: str, arguments: Any, *, timeout_seconds: float) -> JsonValue:
        with self.pool.runner("tenant") as runner:
            return await runner.call_host("", function, arguments, manifest=NOTHING, timeout_seconds=timeout_seconds)


@pytest.fixture
async def ctx() -> AsyncIterator[RunContext]:
    found = Context()
    found.pool = SandboxPool(limits=SMALL, size=ISOLATED_SIZE, insecure=True, scan=False, hosts=ISOLATED)
    yield cast("RunContext", found)
    await found.pool.aclose()


def pool_of(ctx: RunContext) -> SandboxPool:
    return cast("Context", ctx).pool


def word(body: str) -> bytes:
    """A Word document with this body."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(docx())) as sample, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name in sample.namelist():
            content = sample.read(name)
            if name == "word/document.xml":
                head = content.decode().partition("<w:body>")[0]
                content = f"{head}<w:body>{body}</w:body></w:document>".encode()
            made.writestr(name, content)
    return stream.getvalue()


def far_cells() -> bytes:
    """A workbook of two cells, whose rectangle has 17 billion."""
    content = workbook([NamedTable("A", Table(columns=["a"], rows=[["b"]]))], ".xlsx")
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(stream, "w") as made:
        for name in source.namelist():
            made.writestr(name, source.read(name).replace(b'r="A2"', b'r="XFD1048576"'))
    return stream.getvalue()


ATTACKS = {
    "200,000 empty paragraphs": ("a.docx", lambda: word("<w:p/>" * 200_000)),
    "deep tables": ("a.docx", lambda: word("<w:tbl><w:tr><w:tc>" * 20_000)),
    "entities": ("a.html", lambda: b"<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>]><html>" + b"&a;" * 500_000),
    "unclosed tags": ("a.html", lambda: b"<html><body>" + b"<div><span>" * 400_000),
    "white space": ("a.html", lambda: b"<html><body><p>" + b" \n\t" * 2_000_000 + b"x</p>"),
    "columns": ("a.csv", lambda: b",".join(b"x" for _ in range(1_000_000)) + b"\n" + b"1\n" * 200_000),
    "quotes": ("a.csv", lambda: b'"' * 9_000_000),
    "pages": ("a.pdf", lambda: pdf(*["x" * 100] * 3_000)),
    "cells far apart": ("a.xlsx", far_cells),
    "a bomb": ("a.docx", lambda: word("<w:p><w:r><w:t>" + "A" * 400_000_000 + "</w:t></w:r></w:p>")),
}


def workers(ctx: RunContext) -> list[psutil.Process]:
    launcher = pool_of(ctx)._components._launcher
    return [] if launcher is None else psutil.Process(launcher.process.pid).children()


class TestDocuments:
    async def test_are_read_as_in_this_process(self, ctx: RunContext) -> None:
        found = await calls.read_document(ctx, docx(), name="a.docx", media_type=WORD)
        assert found == await calls.read_document(cast("RunContext", FakeContext()), docx(), name="a.docx")
        assert found.table == Table(columns=["vad", "antal"], rows=[["a|b", "3"]])

    async def test_are_refused_as_in_this_process(self, ctx: RunContext) -> None:
        with pytest.raises(Unreadable, match="is an old presentation, which is not supported") as refused:
            await calls.read_document(ctx, b"x", name="a.ppt")
        assert refused.value.remedy == "Save it as .pptx."

    @pytest.mark.parametrize("attack", ATTACKS)
    async def test_that_attack_end_in_their_bounds(self, ctx: RunContext, attack: str) -> None:
        name, made = ATTACKS[attack]
        content = await asyncio.to_thread(made)
        try:
            await calls.read_document(ctx, content, name=name)
        except Unreadable as error:
            assert str(error)  # noqa: PT017 - reading it whole within the bounds is as good
        again = await calls.read_document(ctx, b"still here", name="a.txt")
        assert again.text == "still here"

    async def test_end_with_the_call(self, ctx: RunContext) -> None:
        content = word("<w:p/>" * 200_000)
        reading = asyncio.create_task(calls.read_document(ctx, content, name="a.docx"))
        async with asyncio.timeout(60):
            while not workers(ctx):  # noqa: ASYNC110 - it forks
                await asyncio.sleep(0.01)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        async with asyncio.timeout(60):
            while len(workers(ctx)) > ISOLATED_SIZE.spare:  # noqa: ASYNC110 - the zygote ends it
                await asyncio.sleep(0.01)


class TestQueries:
    async def test_give_a_table(self, ctx: RunContext) -> None:
        table = Table(columns=["n"], rows=[[1], [2]])
        found = await calls.query_tables(ctx, [table], "SELECT sum(n) AS total FROM t", most_rows=10)
        assert found == Table(columns=["total"], rows=[[3]])

    async def test_stop_in_the_middle_of_one_operation(self, ctx: RunContext) -> None:
        """SQLite looks at the clock between two operations; one of these lasts for minutes."""
        table = Table(columns=["t"], rows=[["a" * 1_900_000 + "b"]])
        sql = "SELECT count(*) FROM t a, t b WHERE " + " AND ".join(
            [f"instr(a.t || '{number}', replace(a.t, 'a', 'aa') || 'x') = 0" for number in range(200)]
        )
        with pytest.raises(ComponentError, match=r"given up|stopped|too big"):
            await calls.query_tables(ctx, [table], sql, most_rows=10)

    async def test_select_by_expression(self, ctx: RunContext) -> None:
        value: JsonValue = {"items": [{"price": 5}, {"price": 15}]}
        assert await calls.select_part(ctx, "items[?price > `10`]", value, subject="SelectData") == [{"price": 15}]

    async def test_look_into_the_json_of_a_text(self, ctx: RunContext) -> None:
        assert await calls.select_field(ctx, '{"a": {"b": 3}}', "a.b", subject="If") == 3
        assert await calls.select_field(ctx, "any text", " ", subject="If") == "any text"
        with pytest.raises(ComponentError, match="If: the value is text without fields, so it has no 'a'"):
            await calls.select_field(ctx, "plain", "a", subject="If")

    async def test_refuse_a_wrong_expression(self, ctx: RunContext) -> None:
        with pytest.raises(ComponentError, match="SelectData: the expression 'a\\['"):
            await calls.select_part(ctx, "a[", {}, subject="SelectData")

    async def test_find_what_a_regular_expression_says(self, ctx: RunContext) -> None:
        find = partial(calls.find_matches, ctx, mode="replace", ignore_case=False)
        assert await find("a1b22", r"\d+", replacement="#") == Matched(["1", "22"], "a#b#")
        with pytest.raises(ComponentError, match="is not a valid RE2 regular expression"):
            await find("a", "(", replacement="")
        assert await calls.condition_holds(ctx, "abc", "matches", "B", ignore_case=True)
        assert not await calls.condition_holds(ctx, "abc", "matches", "B", ignore_case=False)

    async def test_stop_an_expression_that_reads_the_rest_at_each_match(self, ctx: RunContext) -> None:
        """RE2 is linear for one search; for all matches of a text it is not."""
        with pytest.raises(ComponentError, match="Regex: the expression was stopped"):
            await calls.find_matches(ctx, "a" * 5_000_000, "a.*z|a", mode="find", replacement="", ignore_case=False)

    async def test_stop_a_schema_that_doubles(self, ctx: RunContext) -> None:
        """Each definition refers to the next one twice: 2 to the 40th checks of one value."""
        definitions: Json = {f"d{number}": {"allOf": [{"$ref": f"#/$defs/d{number + 1}"}] * 2} for number in range(40)}
        schema: Json = {"$ref": "#/$defs/d0", "$defs": definitions | {"d40": {"type": "string"}}}
        with pytest.raises(ComponentError, match="against the schema was stopped"):
            await calls.find_schema_problems(ctx, "x", schema)
        assert await calls.find_schema_problems(ctx, 1, {"type": "string"}) == ["$: 1 is not of type 'string'"]


class TestFunctions:
    def test_are_those_that_the_product_starts_with(self) -> None:
        assert isolated.FUNCTIONS == ISOLATED

    @pytest.mark.parametrize("name", isolated.FUNCTIONS)
    def test_return_their_errors(self, name: str) -> None:
        """A function without `@isolated` cannot be called by the sandbox."""
        module, _, function = name.partition(":")
        assert hasattr(getattr(import_module(module), function), "__wrapped__")


EVERY_SECOND = (
    "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:s\nDTSTART:19700101T000000Z\nRRULE:FREQ=SECONDLY\nEND:VEVENT\nEND:VCALENDAR\n"
)
NESTED = "count(//*[count(.//*[count(.//*[count(.//*[count(.//*)>0])>0])>0])>0])"
SALES: JsonValue = {"columns": ["month", "sales"], "rows": [["January", 12], ["February", 18]]}
PLAN: JsonValue = {
    "kind": "line",
    "labels": "",
    "values": [],
    "title": "",
    "width": 400,
    "height": 300,
    "format": "png",
}


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return stream.getvalue()


SLOW: dict[str, tuple[str, dict[str, Any]]] = {
    "a selector": (
        isolated.HTML_ELEMENTS,
        {"html": "<p></p>" * 300_000, "selector": "p:nth-last-of-type(1000000)", "value": "text", "columns": {}},
    ),
    "XPath": (
        isolated.XML_VALUES,
        {"content": encoded(b"<a>" * 200 + b"</a>" * 200), "expression": NESTED, "namespaces": {}},
    ),
    "a recurrence": (
        isolated.CALENDAR_EVENTS,
        {
            "text": EVERY_SECOND,
            "begin": "2999-01-01T00:00:00+00:00",
            "end": "2999-01-02T00:00:00+00:00",
            "zone": "UTC",
        },
    ),
}


async def give_usual_limits(ctx: RunContext) -> None:
    """Give a context the limits of the product: loading a library takes a slow machine a second of processor time."""
    roomy = SandboxPool(limits=ISOLATED_LIMITS, size=ISOLATED_SIZE, insecure=True, scan=False, hosts=ISOLATED)
    cast("Context", ctx).pool, pool = roomy, pool_of(ctx)
    await pool.aclose()


class TestFormats:
    """Files and feeds, in the processes of the product."""

    async def test_are_read_there(self, ctx: RunContext) -> None:
        await give_usual_limits(ctx)
        book = workbook([NamedTable("A", Table(columns=["n"], rows=[[1]]))], ".xlsx")
        sheet = await calls.read_sheet(ctx, book, name="a.xlsx", sheet="", header_row=1)
        assert sheet.table == Table(columns=["n"], rows=[[1]])
        archive: dict[str, JsonValue] = {"content": encoded(zipped({"a": b"x"})), "name": "a.zip"}
        assert await calls.call_isolated(ctx, isolated.ARCHIVE_MEMBERS, archive | {"paths": ["a"]}, "it", 30) == {
            "a": encoded(b"x")
        }
        feed: dict[str, JsonValue] = {
            "content": encoded(b"<rss><channel><title>T</title></channel></rss>"),
            "url": "u",
            "most": 1,
        }
        assert cast("dict[str, Any]", await calls.call_isolated(ctx, isolated.FEED, feed, "it", 30))["title"] == "T"
        period: Json = {"begin": "1970-01-01T00:00:00+00:00", "end": "1970-01-01T00:00:03+00:00", "zone": "UTC"}
        events = await calls.call_isolated(ctx, isolated.CALENDAR_EVENTS, {"text": EVERY_SECOND} | period, "it", 30)
        assert len(cast("dict[str, Any]", events)["rows"]) == 3

    async def test_are_drawn_there(self, ctx: RunContext) -> None:
        await give_usual_limits(ctx)
        picture = await calls.call_isolated(ctx, isolated.CHART, cast("Json", {"table": SALES, "plan": PLAN}), "it", 30)
        content = base64.b64decode(cast("str", picture))
        assert content.startswith(b"\x89PNG")
        image: dict[str, JsonValue] = {
            "content": encoded(content),
            "name": "a",
            "width": 40,
            "height": 0,
            "mode": "fit",
            "target": "webp",
        }
        converted = await calls.call_isolated(ctx, isolated.IMAGE, image | {"quality": 80}, "it")
        assert cast("dict[str, Any]", converted)["height"] == 30

    async def test_are_notified_of_without_a_network(self, ctx: RunContext) -> None:
        await give_usual_limits(ctx)
        message: dict[str, JsonValue] = {
            "address": "ntfys://ntfy.example.org/alerts",
            "title": "T",
            "body": "B",
            "answers": [],
        }
        step = cast("dict[str, Any]", await calls.call_isolated(ctx, isolated.NOTIFICATION, message, "It", 50))
        assert (step["request"]["method"], step["request"]["url"]) == ("POST", "https://ntfy.example.org/")

    @pytest.mark.parametrize("slow", SLOW)
    async def test_that_take_too_long_are_stopped(self, ctx: RunContext, slow: str) -> None:
        function, arguments = SLOW[slow]
        with pytest.raises(ComponentError, match="was stopped"):
            await calls.call_isolated(ctx, function, arguments, "It", 5)
