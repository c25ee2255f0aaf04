"""What a change of a chatflow is told as."""

from typing import Any

import pytest

from headgate.agents.codev.domains.flowise.comparing import differences


def flow(**inputs: Any) -> dict[str, Any]:
    """A chatflow of one node."""
    return {
        "nodes": [{"id": "http_0", "data": {"id": "http_0", "name": "httpAgentflow", "inputs": inputs}}],
        "edges": [],
    }


class TestDifferences:
    def test_name_what_changed_within_a_value(self) -> None:
        (line,) = differences(
            flow(headers=[{"name": "Accept", "value": "text"}]), flow(headers=[{"name": "Accept", "value": "json"}])
        )
        assert '"text" -> "json"' in line

    @pytest.mark.parametrize(
        ("was", "now"),
        [
            ([{"key": "X-Api-Key", "value": "abc123secret"}], [{"key": "X-Api-Key", "value": "def456secret"}]),
            (
                [{"key": "X-Api-Key", "value": "abc123secret"}],
                [{"key": "X-Api-Key", "value": "def456secret"}, {"key": "a"}],
            ),
            ({"credentials": {"pin": "abc123secret"}}, {"credentials": {"pin": "def456secret"}}),
        ],
    )
    def test_show_nothing_that_is_secret_by_what_stands_beside_or_above_it(self, was: Any, now: Any) -> None:
        told = differences(flow(headers=was), flow(headers=now))
        assert told
        assert "secret" not in str(told)
