from collections.abc import AsyncGenerator
from typing import Any
from unittest.mock import AsyncMock, MagicMock

import pytest

from headgate.features.access.principal import LOCAL
from headgate.features.runs.transitions import RunKey
from headgate.features.runs.views import public_output
from headgate.features.runs.views.public_output import PublicOutput
from headgate.foundation.sse import SseEvent


async def parts_of(monkeypatch: pytest.MonkeyPatch, *events: tuple[str, dict[str, Any]]) -> list[tuple[str, str]]:
    """Kind and text of the parts of a run whose step `s` speaks."""

    async def stream() -> AsyncGenerator[SseEvent, None]:
        for kind, data in events:
            yield SseEvent("1", kind, {"step_id": "s", **data})

    monkeypatch.setattr(public_output, "streaming_step_of", lambda _planned: "s")
    monkeypatch.setattr(public_output, "answer_of", AsyncMock(return_value=None))
    engine = MagicMock()
    engine.plans.of = AsyncMock()
    output = PublicOutput(engine, LOCAL, RunKey("r", "t", "f", 1))
    monkeypatch.setattr(output, "_stream", MagicMock(events=stream))
    return [(part.kind, part.text) async for part in output.pieces()]


class TestPieces:
    async def test_begin_anew_when_another_model_does(self, monkeypatch: pytest.MonkeyPatch) -> None:
        parts = await parts_of(
            monkeypatch,
            ("token", {"text": "Half an"}),
            ("model_changed", {"failed": "a/one", "model": "b/two", "restarted": True}),
            ("token", {"text": "All of it"}),
        )
        assert parts == [("text", "Half an"), ("again", ""), ("text", "All of it"), ("ended", "")]

    async def test_continue_when_the_failed_model_had_written_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        changed = {"failed": "a/one", "model": "b/two", "restarted": False}
        parts = await parts_of(monkeypatch, ("model_changed", changed), ("token", {"text": "All of it"}))
        assert parts == [("text", "All of it"), ("ended", "")]
