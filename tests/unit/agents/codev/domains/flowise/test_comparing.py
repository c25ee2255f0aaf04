"""What a change of a chatflow is told as."""

import json
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

    def test_name_the_pairs_that_came_went_and_changed(self) -> None:
        was = [{"key": "Accept", "value": "text"}, {"key": "X-Api-Key", "value": "abc123secret"}]
        now = [{"key": "X-Api-Key", "value": "def456secret"}, {"key": "X-Trace", "value": ""}]
        assert differences(flow(headers=was), flow(headers=[*now, {"key": "X-Team", "value": "blue"}])) == [
            "- http_0.headers.Accept",
            "~ http_0.headers.X-Api-Key: changed, not shown",
            "+ http_0.headers.X-Trace",
            "+ http_0.headers.X-Team: not shown",
        ]

    def test_name_the_pairs_of_a_list_that_was_empty_or_is(self) -> None:
        headers = [{"key": "Accept", "value": "text"}]
        nothing: list[dict[str, Any]] = [{}, {"headers": ""}, {"headers": []}, {"headers": None}]
        for empty in nothing:
            assert differences(flow(**empty), flow(headers=headers)) == ["+ http_0.headers.Accept: not shown"]
            assert differences(flow(headers=headers), flow(**empty)) == ["- http_0.headers.Accept"]

    def test_show_what_pairs_without_a_secret_name_hold(self) -> None:
        was = [{"name": "Accept", "value": "text"}, {"name": "Cookie", "value": "a=abc123secret"}]
        now = [{"name": "Accept", "value": "json"}, {"name": "Cookie", "value": "a=def456secret"}]
        given = [{"variableName": "topic", "variableValue": "cats"}, {"variableName": "token", "variableValue": "s3"}]
        assert differences(flow(headers=was), flow(headers=now, variables=given)) == [
            '~ http_0.headers.Accept: "text" -> "json"',
            "~ http_0.headers.Cookie: changed, not shown",
            "+ http_0.variables.topic: cats",
            "+ http_0.variables.token: not shown",
        ]

    def test_tell_pairs_of_the_same_name_apart(self) -> None:
        was = [{"name": "Accept", "value": "a"}, {"name": "Accept", "value": "b"}]
        now = [{"name": "Accept", "value": "a"}, {"name": "Accept", "value": "c"}]
        assert differences(flow(headers=was), flow(headers=now)) == ['~ http_0.headers.Accept (2): "b" -> "c"']

    def test_tell_other_members_of_a_pair(self) -> None:
        was = [{"key": "city", "type": "text", "value": "abc123secret"}]
        now = [{"key": "city", "type": "file", "value": "abc123secret"}]
        (line,) = differences(flow(body=was), flow(body=now))
        assert line.startswith("~ http_0.body.city.type: ")
        assert "secret" not in line

    @pytest.mark.parametrize(
        "headers",
        [
            [{"key": "X-Auth", "value": "abc123secret"}],
            [{"key": "X-Auth", "value": {"deep": [{"more": "abc123secret"}]}}],
            [{"key": "X-Auth", "value": "abc123secret"}, "no pair"],
            [{"key": "X-Auth", "value": "abc123secret"}, {"value": "abc123secret"}],
            {"more": [{"key": "X-Auth", "value": "abc123secret"}]},
            {"key": "X-Auth", "value": "abc123secret"},
            [[{"key": "X-Auth", "value": "abc123secret"}]],
            [{"key": "abc123secret"}],
            [{"name": "X-Api-Key", "value": "abc123secret"}],
            [{"name": "x", "value": "Bearer abc123secret"}],
            [{"variableName": "password", "variableValue": "abc123secret"}],
            [{"name": "Bearer abc123secret", "value": "x"}],
        ],
    )
    def test_show_no_secret_that_came_went_or_changed(self, headers: Any) -> None:
        other = json.loads(json.dumps(headers).replace("abc123", "def456"))
        for was, now in (
            (flow(headers=headers), flow(headers=other)),
            (flow(), flow(headers=headers)),
            (flow(headers=headers), flow()),
            ({}, flow(headers=headers)),
        ):
            told = differences(was, now)
            assert told
            assert "secret" not in str(told)

    def test_of_very_many_pairs_of_one_name_is_soon_told(self) -> None:
        many = [{"key": "a", "value": str(number)} for number in range(50_000)]
        assert len(differences(flow(), flow(headers=many))) == 201
