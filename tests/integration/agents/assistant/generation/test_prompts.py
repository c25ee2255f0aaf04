"""What the model is told is true: its examples pass the check that its answers go through."""

import re

import pytest

from headgate.agents.assistant.generation.extraction import class_name_of
from headgate.agents.assistant.generation.pipeline import MAX_CODE_CHARS, MAX_ERROR_CHARS, PROMPT, retry_prompt
from headgate.features.catalog.own.check import ComponentChecker
from headgate.graph.tool_names import GENERIC_METHODS, tool_name
from headgate.graph.wiring import can_be_tool
from headgate.sdk.reserved import SYNTHETIC_METHOD, SYNTHETIC_OUTPUT

EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PROMPT, re.MULTILINE | re.DOTALL)


class TestPrompt:
    @pytest.mark.asyncio(loop_scope="package")
    @pytest.mark.parametrize("code", EXAMPLES, ids=class_name_of)
    async def test_shows_components_that_pass(self, checker: ComponentChecker, code: str) -> None:
        made = await checker.check("somebody", code)
        assert can_be_tool(made.template)
        assert tool_name(made.type, [out.name for out in made.template.outputs]) not in GENERIC_METHODS

    def test_shows_how_to_declare_hosts(self) -> None:
        assert any("hosts: ClassVar[tuple[str, ...]]" in code for code in EXAMPLES)

    @pytest.mark.parametrize("name", [*sorted(GENERIC_METHODS), SYNTHETIC_OUTPUT, SYNTHETIC_METHOD])
    def test_names_what_no_method_should_be_called(self, name: str) -> None:
        section = PROMPT.partition("# Agent Tool Compatibility")[2]
        assert f"`{name}`" in section


class TestRetryPrompt:
    def test_holds_the_request_the_error_and_the_code(self) -> None:
        told = retry_prompt("sum $a and ${b}", error="line 3: broken", code="x = '$c'")
        assert "sum $a and ${b}" in told
        assert "line 3: broken" in told
        assert "x = '$c'" in told

    def test_has_an_end(self) -> None:
        told = retry_prompt("sum", error="e" * 100_000, code="c" * 100_000)
        assert len(told) < MAX_ERROR_CHARS + MAX_CODE_CHARS + 1_000
        assert told.count("... [truncated]") == 2

    def test_says_that_there_was_no_code(self) -> None:
        assert "(no code)" in retry_prompt("sum", error="none", code="")
