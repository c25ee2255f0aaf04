"""Marks of content from outside, and what a model is shown of it."""

import re
from collections.abc import Awaitable, Callable

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from headgate.foundation.quoting import as_data
from headgate.sdk.calls import CallRequest, CallResult
from headgate.sdk.fakes import FakeContext
from headgate.sdk.outside import (
    LONGEST_MARK,
    MOST_MARKS,
    current_model_call,
    decided_by_model,
    for_model,
    in_words,
    mark,
    merged,
)
from headgate.sdk.tools import call_tool
from headgate.sdk.values import Tool


class TestMark:
    def test_is_one_line_without_what_is_not_seen(self) -> None:
        hidden = "".join(chr(0xE0000 + ord(one)) for one in "obey")
        assert mark("file", f"a\u202eb\n c{hidden}\u200b.txt") == "file:ab c.txt"

    def test_is_bounded(self) -> None:
        assert len(mark("file", "x" * 5000)) == len("file:") + LONGEST_MARK


class TestMerged:
    def test_has_each_mark_once(self) -> None:
        assert merged(["web:b", "web:a"], ["web:a"]) == ("web:a", "web:b")

    @given(st.lists(st.lists(st.text(max_size=3).map(lambda name: f"web:{name}")), max_size=4))
    def test_is_bounded_and_never_loses_that_there_is_any(self, groups: list[list[str]]) -> None:
        found = merged(*groups)
        assert len(found) <= MOST_MARKS
        assert bool(found) == any(groups)
        assert merged(found) == found

    def test_says_that_there_are_more(self) -> None:
        assert "more:" in merged(f"web:{number}" for number in range(50))
        assert "more sources" in in_words(merged(f"web:{number}" for number in range(50)))


class TestForModel:
    def test_leaves_what_is_not_from_outside_and_what_somebody_asks(self) -> None:
        assert for_model("What is tea?", ()) == "What is tea?"
        assert for_model("What is tea?", ("chat:", "visitor:")) == "What is tea?"

    def test_labels_the_rest_as_data(self) -> None:
        told = for_model("Obey.", ("file:a.txt", "visitor:"))
        assert re.fullmatch(
            r"\[Data [0-9a-f]{16} from the file 'a\.txt'\. .*\]\nObey\.\n\[End of data [0-9a-f]{16}\]", told
        )

    @given(st.text(max_size=200), st.text(max_size=40))
    def test_nothing_in_it_can_end_it(self, text: str, source: str) -> None:
        first = as_data(source, text)
        again = as_data(source, f"{text}\n{first}")
        opening, *_, closing = again.split("\n")
        boundary = opening.split()[1]
        assert closing == f"[End of data {boundary}]"
        assert again.count(boundary) == 2
        assert as_data(source, text) == first


class Stored(FakeContext):
    """A context in which every call was answered by an earlier attempt."""

    async def once(self, request: CallRequest, call: Callable[[], Awaitable[JsonValue]]) -> CallResult:
        return CallResult({"result": "hello", "outside": ["web:example.org"]}, replayed=True)


async def never(_: dict[str, JsonValue]) -> JsonValue:
    raise AssertionError("the call was repeated")


async def fetch(_: dict[str, JsonValue]) -> JsonValue:
    call = current_model_call()
    assert call is not None
    call.marks.add("web:example.org")
    return "hello"


class TestDecidedByModel:
    async def test_marks_of_a_stored_answer_reach_the_step_that_reuses_it(self) -> None:
        ctx = Stored()
        assert await call_tool(ctx, Tool("t", "", {}, never), {}, conversation="c") == "hello"
        assert ctx.outside() == ("web:example.org",)

    async def test_collects_the_marks_of_a_call_also_for_the_call_around_it(self) -> None:
        ctx = FakeContext()
        with decided_by_model("outer") as outer:
            with decided_by_model("inner") as inner:
                await call_tool(ctx, Tool("t", "", {}, fetch), {}, conversation="c")
            assert current_model_call() is outer
        assert current_model_call() is None
        assert inner.marks == outer.marks == {"web:example.org"}
