"""Pages of an API: each style, limits, and servers that never end or lead elsewhere."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import JsonValue

from headgate.components.web import pages
from headgate.components.web.page_positions import link_position, next_link, page_url
from headgate.components.web.pages import ForEachPage
from headgate.foundation.errors import Invalid, UpstreamFailed
from headgate.sdk import ComponentError
from headgate.sdk.flows import FlowInput
from headgate.sdk.testing import StepHarness

URL = "https://api.test/orders"
FLOW: dict[str, JsonValue] = {"flow_id": "f", "version": 1, "name": "Body", "fields": ["id"]}


def api(answers: Mapping[str, Any], **options: Any) -> StepHarness:
    """A server that answers these paths."""
    harness = StepHarness()
    for path, body in answers.items():
        harness.http.answer(f"https://api.test{path}", body, **options)
    return harness


async def results(harness: StepHarness, **values: Any) -> Any:
    outputs = await harness.run(ForEachPage, {"url": URL, "flow": FLOW, **values})
    return outputs["results"]


class TestStyles:
    async def test_follows_the_link_header(self) -> None:
        harness = StepHarness()
        link = '<https://api.test/orders?page=1>; rel="first", </orders?page=2>; rel="next prefetch"'
        harness.http.answer(URL, ["a", "b"], headers={"Link": link})
        harness.http.answer(f"{URL}?page=2", ["c"])
        outputs = await harness.run(ForEachPage, {"url": URL, "flow": FLOW})
        assert outputs["results"] == ["a", "b", "c"]
        assert outputs["summary"] == {"pages": 2, "items": 3, "complete": True}
        assert [row[:4] for row in outputs["pages"].rows] == [[1, URL, 2, 10], [2, f"{URL}?page=2", 1, 5]]
        assert len(outputs["pages"].rows[0][4]) == 64
        assert harness.ctx.marks[""] == ("web:api.test",)
        assert [file.name for file in harness.ctx.files.saved] == ["page.json", "page.json"]

    async def test_follows_a_link_in_the_page(self) -> None:
        harness = api({"/orders": {"rows": [1, 2], "next": "?after=2"}, "/orders?after=2": {"rows": [3], "next": None}})
        assert await results(harness, items="rows", next="next") == ["1", "2", "3"]

    async def test_sends_a_cursor(self) -> None:
        harness = api(
            {
                "/orders?limit=2": {"data": [{"id": 1}, {"id": 2}], "meta": {"after": "x y"}},
                "/orders?limit=2&cursor=x+y": {"data": [{"id": 3}], "meta": {"after": ""}},
            }
        )
        values = {"paging": "cursor", "query": {"limit": 2}, "items": "data", "next": "meta.after"}
        await results(harness, **values)
        assert [inputs.answers for _, inputs in harness.ctx.flows.calls] == [{"id": 1}, {"id": 2}, {"id": 3}]

    async def test_counts_pages_until_one_is_empty(self) -> None:
        harness = api({"/orders?page=0": [1], "/orders?page=1": [2], "/orders?page=2": []})
        assert await results(harness, paging="page", first_page=0) == ["1", "2"]

    async def test_counts_items_while_a_condition_holds(self) -> None:
        harness = api({"/orders?start=0": {"n": 3, "of": [1, 2]}, "/orders?start=2": {"n": 3, "of": [3]}}, method="GET")
        values = {"paging": "offset", "parameter": "start", "items": "of", "next": "n > `2` && of[1]"}
        assert await results(harness, **values) == ["1", "2", "3"]

    async def test_a_run_may_get_a_page(self) -> None:
        harness = api({"/orders?page=1": [1, 2], "/orders?page=2": [3], "/orders?page=3": []})
        assert await results(harness, paging="page", per="page", template="{index}: {item}") == [
            "0: [\n  1,\n  2\n]",
            "1: [\n  3\n]",
        ]

    async def test_uses_a_connection_and_the_secrets_of_headers(self) -> None:
        harness = api({"/orders": [1]})
        harness.ctx.secrets["KEY"] = "sk-1"
        harness.connect("shop", "bearer", {"url": "https://api.test"})
        values = {"url": "/orders", "connection": "shop", "headers": {"X-Key": {"secret": "KEY"}}}
        await results(harness, **values)
        (request,) = harness.http.requests
        assert (request.method, request.headers) == ("GET", {"x-key": "sk-1", "accept": "application/json"})

    async def test_an_api_without_items_runs_nothing(self) -> None:
        harness = api({"/orders": []})
        assert await results(harness) == []
        assert harness.ctx.flows.calls == []


class TestErrors:
    async def test_names_the_page_of_an_item_that_failed(self) -> None:
        def answer(inputs: FlowInput) -> JsonValue:
            if inputs.text == "3":
                raise Invalid("It is bad.")
            return inputs.text

        harness = api({"/orders?page=1": [1, 2], "/orders?page=2": [3], "/orders?page=3": []})
        harness.ctx.flows._answer = answer
        outputs = await harness.run(
            ForEachPage, {"url": URL, "flow": FLOW, "paging": "page", "on_error": "continue", "parallel": 1}
        )
        (error,) = outputs["errors"]
        assert (error["index"], error["page"], error["error"]) == (2, 2, "It is bad.")

    @pytest.mark.parametrize(
        ("body", "media", "problem"),
        [
            ("<html>Sign in</html>", "text/html", "page 1: the text is not JSON"),
            ({"rows": 1}, "", "the items of page 1 are an object, not a list"),
            ("", "application/json", "page 1: the text is not JSON"),
        ],
    )
    async def test_refuses_what_is_no_list(self, body: Any, media: str, problem: str) -> None:
        with pytest.raises(ComponentError, match=problem):
            await results(api({"/orders": body}, media_type=media))

    async def test_fails_with_the_status(self) -> None:
        with pytest.raises(UpstreamFailed, match="answered 503"):
            await results(api({"/orders": "busy"}, status=503))

    async def test_a_cursor_needs_its_path(self) -> None:
        with pytest.raises(ComponentError, match="no JMESPath of the cursor"):
            await results(api({"/orders": []}), paging="cursor")


class TestHostileServers:
    @pytest.mark.parametrize(
        "link",
        [
            "https://evil.test/orders?page=2",
            "//evil.test/orders",
            "http://api.test/orders?page=2",
            "https://api.test:8443/x",
            "https://api.test@evil.test/",
            "javascript:alert(1)",
            "https://[api.test/",
            "/orders?a b",
        ],
    )
    async def test_no_link_leads_to_another_server(self, link: str) -> None:
        harness = StepHarness()
        harness.http.answer(URL, {"of": [1], "next": link})
        with pytest.raises(ComponentError, match="leads to another server"):
            await results(harness, items="of", next="next")
        assert len(harness.http.requests) == 1

    @pytest.mark.parametrize("link", [["/a"], {"href": "/a"}, 7, "/" + "a" * 9_000])
    async def test_a_link_is_a_text_of_some_length(self, link: Any) -> None:
        with pytest.raises(ComponentError, match="or too long"):
            await results(api({"/orders": {"of": [1], "next": link}}), items="of", next="next")

    async def test_a_loop_of_links_ends(self) -> None:
        harness = api({"/orders": {"of": [1], "next": "?p=2"}, "/orders?p=2": {"of": [2], "next": "/orders"}})
        with pytest.raises(ComponentError, match="a second time"):
            await results(harness, items="of", next="next")
        assert len(harness.http.requests) == 2

    async def test_a_loop_of_cursors_ends(self) -> None:
        pages_ = {f"/orders{query}": {"of": [1], "c": c} for query, c in [("", "a"), ("?cursor=a", "b")]}
        harness = api(pages_ | {"/orders?cursor=b": {"of": [2], "c": "a"}})
        with pytest.raises(ComponentError, match="a second time"):
            await results(harness, paging="cursor", items="of", next="c")
        assert len(harness.http.requests) == 3

    @pytest.mark.parametrize("cursor", [[1], {"a": 1}, True, "c" * 9_000])
    async def test_a_cursor_is_a_text_or_number(self, cursor: Any) -> None:
        with pytest.raises(ComponentError, match="the cursor is"):
            await results(api({"/orders": {"of": [1], "c": cursor}}), paging="cursor", items="of", next="c")

    async def test_an_api_that_ignores_the_page_number_is_noticed(self) -> None:
        harness = api({f"/orders?page={number}": [1, 2] for number in (1, 2, 3)})
        with pytest.raises(ComponentError, match="ignores the query parameter 'page'"):
            await results(harness, paging="page")
        assert len(harness.http.requests) == 2


class TestLimits:
    @pytest.mark.parametrize(
        ("values", "limit", "requests", "runs"),
        [({"most_pages": 3}, "3 pages", 3, 6), ({"most_items": 3}, "3 items", 2, 3), ({"most_items": 4}, "4 it", 2, 4)],
    )
    async def test_endless_pages_end(self, values: dict[str, Any], limit: str, requests: int, runs: int) -> None:
        harness = api({f"/orders?page={number}": [number, 0] for number in range(1, 20)})
        with pytest.raises(ComponentError, match=f"more than the limit of {limit}"):
            await results(harness, paging="page", **values)
        assert (len(harness.http.requests), len(harness.ctx.flows.calls)) == (requests, runs)

    async def test_a_limit_may_be_wanted(self) -> None:
        harness = api({f"/orders?page={number}": [number] for number in range(1, 20)})
        values = {"url": URL, "flow": FLOW, "paging": "page", "most_pages": 2, "at_limit": "continue"}
        outputs = await harness.run(ForEachPage, values)
        assert (outputs["results"], outputs["summary"]["complete"]) == (["1", "2"], False)

    async def test_all_pages_together_are_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pages, "MOST_BYTES", 12)
        harness = api({f"/orders?page={number}": [number, 0] for number in range(1, 20)})
        with pytest.raises(ComponentError, match="more than the limit of 12 bytes"):
            await results(harness, paging="page")
        assert len(harness.http.requests) == 2


class TestPositions:
    @pytest.mark.parametrize(
        ("header", "link"),
        [
            ("", ""),
            ("</b>; rel=next", "/b"),
            ('</a>; rel="prev", </b>; title="x"; rel="next"', "/b"),
            ("</b>; rel=nextish", ""),
            ("<>; rel=next", ""),
            ("<" * 10_000, ""),
        ],
    )
    def test_reads_link_headers(self, header: str, link: str) -> None:
        assert next_link(header) == link

    def test_replaces_the_parameter(self) -> None:
        assert page_url("page", f"{URL}?page=1&a=b", "page", 2) == f"{URL}?a=b&page=2"

    def test_omits_removed_secrets_from_links(self) -> None:
        link = f"{URL}?api_key=[redacted]&page=2"
        assert link_position(link, current=URL, first=URL) == f"{URL}?page=2"
