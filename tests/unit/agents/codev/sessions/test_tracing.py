"""LangSmith is sent nothing unless the operator asked for it, whatever the environment says."""

import os

import pytest
from langsmith.utils import tracing_is_enabled

from headgate.agents.codev.sessions.tracing import traced
from headgate.foundation.settings import CodevSettings
from tests.support.direct import DIRECT


class TestTraces:
    @pytest.mark.parametrize(
        ("asked", "key", "sent"), [(False, "lsv2_x", False), (True, "", False), (True, "lsv2_x", True)]
    )
    def test_are_sent_where_they_are_asked_for_and_there_is_a_key(
        self, monkeypatch: pytest.MonkeyPatch, *, asked: bool, key: str, sent: bool
    ) -> None:
        monkeypatch.setenv("LANGSMITH_TRACING", "true")
        monkeypatch.setenv("LANGCHAIN_TRACING_V2", "true")
        monkeypatch.setenv("LANGSMITH_API_KEY", key)
        before = dict(os.environ)
        with traced(CodevSettings(langsmith=asked), DIRECT):
            assert bool(tracing_is_enabled()) is sent
            assert dict(os.environ) == before
