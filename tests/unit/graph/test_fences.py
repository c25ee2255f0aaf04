"""Markdown code blocks."""

import pytest

from headgate.components.data.json_text import strip_fence
from headgate.features.runs.steps.policies import without_fence
from headgate.graph.fences import first_block


class TestFirstBlock:
    @pytest.mark.parametrize(
        ("text", "content"),
        [
            ("```json\n{}\n```", "{}\n"),
            ("Here:\r\n```\r\na\r\n  ```\r\n```\nb\n```", "a\r\n"),
            ("```c++ \n```", ""),
            ("```js\nx ``` y\n```", "x ``` y\n"),
            ("```json {}```", None),
            ("```\nnever closed", None),
            ("", None),
        ],
    )
    def test_is_what_stands_between_the_first_opening_and_its_end(self, text: str, content: str | None) -> None:
        assert first_block(text) == content

    def test_takes_linear_time_on_blocks_that_are_never_closed(self) -> None:
        """With one expression over both ends this text takes minutes, and holds the interpreter meanwhile."""
        text = "x```\n" * 400_000
        assert first_block(text) is None
        assert strip_fence(text) == without_fence(text) == text.strip()
