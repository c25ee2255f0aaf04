from collections.abc import Mapping

import pytest

from headgate.graph.check_headers import carries_credential, header_issues
from headgate.graph.model import Flow, HttpCall, Node, StepPolicy
from headgate.graph.secret_reference import SecretReference
from headgate.graph.wiring import wire
from tests.unit.graph.palette import PALETTE

NAMED: list[str | SecretReference] = [
    SecretReference("CRM_TOKEN"), SecretReference("_KEY1", "Token"), "{{flow_input.token}}",
    "Bearer {{login.output.token}}", "",
]  # fmt: skip
WRITTEN = ["Bearer abc123def456", "hunter22", "Basic YW5uYTpodW50ZXIyMg==", "session=1f3a; path=/", "bearer crm_token",
           "Bearer CRM_TOKEN", "CRM_TOKEN"]  # fmt: skip
KEYS = [
    "sk-proj-0123456789abcdef",
    "ghp_0123456789abcdefghij",
    "token eyJhbGciOiJI.eyJzdWIiOiIx.abc",
    "AKIAIOSFODNN7EXAMPLE",
]


def found(headers: Mapping[str, str | SecretReference], place: str = "params") -> list[str]:
    call = HttpCall(url="https://example.org", headers=dict(headers))
    node = {
        "params": Node(id="n", type="HTTPRequest", params={"headers": call.model_dump(mode="json")["headers"]}),
        "input": Node(id="n", type="Echo", policy=StepPolicy(input_source="http_get", input_config=call)),
        "output": Node(id="n", type="Echo", policy=StepPolicy(output_mode="http_post", output_config=call)),
    }[place]
    return [issue.field for issue in header_issues(wire(Flow(nodes=(node,)), PALETTE))]


class TestHeaderIssues:
    @pytest.mark.parametrize("value", NAMED)
    def test_let_a_named_credential_be(self, value: str | SecretReference) -> None:
        assert found({"Authorization": value, "X-Api-Key": value}) == []

    @pytest.mark.parametrize("value", WRITTEN)
    @pytest.mark.parametrize("name", ["Authorization", "x-api-key", "COOKIE", "X-Auth-Token", "client_secret"])
    def test_refuse_one_that_is_written_down(self, name: str, value: str) -> None:
        assert found({name: value}) == ["headers"]

    @pytest.mark.parametrize("value", KEYS)
    def test_refuse_what_looks_like_a_key_in_any_header(self, value: str) -> None:
        assert found({"X-Anything": value}) == ["headers"]

    @pytest.mark.parametrize(
        ("place", "field"), [("input", "input_config.headers"), ("output", "output_config.headers")]
    )
    def test_look_at_policies_too(self, place: str, field: str) -> None:
        assert found({"Authorization": "Bearer abc123def456"}, place) == [field]

    @pytest.mark.parametrize("name", ["Accept", "Content-Type", "Idempotency-Key", "X-Team", "X-Monkey", "without_key"])
    def test_let_other_headers_be(self, name: str) -> None:
        assert found({name: "any text at all"}) == []
        assert not carries_credential(name)

    def test_say_how_to_store_it_and_never_show_it(self) -> None:
        node = Node(id="n", type="HTTPRequest", params={"headers": {"Authorization": "hunter22"}})
        (issue,) = header_issues(wire(Flow(nodes=(node,)), PALETTE))
        assert "headgate variables set" in issue.remedy
        assert "hunter22" not in f"{issue.message} {issue.remedy}"
