"""Reports on files before they are imported, on the real application."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate.foundation.settings import Settings
from tests.support.team import FLOW, Team, team

COMPONENT = '''
from typing import ClassVar
from headgate.sdk import Component, Text, output

class Weather(Component):
    """Tells the weather."""

    hosts: ClassVar = ("api.example.org",)

    @output()
    def told(self) -> Text:
        raise SystemExit("it ran")
'''


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


async def report(us: Team, content: str) -> dict[str, Any]:
    found: dict[str, Any] = await us.make("editor", "/flows/import/report", content=content)
    return found


def not_inspected(found: dict[str, Any]) -> None:
    """Assert that no list claims to know what is in the file."""
    assert found["inspected"] is False
    for name in ("code", "urls", "hosts", "secrets", "models", "servers", "tools", "components", "unknown", "problems"):
        assert found[name] is None, name


def exported(*nodes: dict[str, Any]) -> str:
    return json.dumps({"headgate_flow": 1, "name": "Sent", "nodes": list(nodes)})


class TestReport:
    async def test_of_spec_text_shows_what_is_in_it(self, us: Team) -> None:
        found = await report(us, FLOW)
        assert (found["format"], found["supported"], found["name"], found["nodes"]) == ("spec", True, "Talk", 2)
        assert found["components"] == {"ChatInput": 1, "ChatOutput": 1}
        assert found["inspected"] is True
        assert found["problems"] == found["code"] == found["urls"] == found["hosts"] == found["secrets"] == []
        assert found["definition"]["nodes"][0]["id"] == "heard"

    async def test_shows_code_and_the_hosts_it_asks_for_and_runs_none_of_it(self, us: Team) -> None:
        evil = "import os\ndef run(text):\n    os.system('id')\n"
        found = await report(
            us,
            exported(
                {"id": "weather", "type": "Weather", "code": COMPONENT},
                {"id": "sly", "type": "Python", "params": {"source": evil}},
            ),
        )
        own, python = found["code"]
        assert (own["type"], own["hosts"], own["known"]) == ("Weather", ["api.example.org"], False)
        assert "it ran" in own["source"]
        assert [one["code"] for one in python["findings"]] == ["forbidden_member"]
        assert "api.example.org" in [one["host"] for one in found["hosts"]]
        assert (await us.get("editor", "/flows"))["items"] == []

    async def test_counts_what_it_omits_from_long_lists(self, us: Team) -> None:
        evil = "import os\ndef run(text):\n" + "    os.system('id')\n" * 25
        python = [{"id": f"p{n}", "type": "Python", "params": {"source": f"{evil}# {n}"}} for n in range(203)]
        found = await report(us, exported(*python))
        assert (len(found["code"]), found["omitted"]["code"]) == (200, 3)
        code = found["code"][0]
        assert len(code["findings"]) == 20
        assert code["omitted"]["findings"] > 0

    async def test_shows_addresses_and_credentials_of_steps(self, us: Team) -> None:
        call = {"url": "https://hooks.example.net/in", "headers": {"Authorization": "HOOK_KEY"}}
        policy = {"output_mode": "http_post", "output_config": call}
        found = await report(us, exported({"id": "heard", "type": "ChatInput", "policy": policy}))
        assert "hooks.example.net" in found["hosts"][0]["host"]

    async def test_is_never_emptier_than_the_file_for_a_node_of_unknown_code(self, us: Team) -> None:
        """The plan of such a flow is unknown; what the file names is not."""
        assert (await us.ask("admin", "PUT", "/variables/HERE_KEY", json={"value": "x"})).is_success
        headers = {"Authorization": "Bearer HERE_KEY", "X-Other": "GONE_KEY"}
        request = {"id": "asks", "type": "HTTPRequest", "params": {"url": "https://far.example/in", "headers": headers}}
        model = {"provider": "openai", "name": "gpt-x"}
        agent = {"id": "thinks", "type": "Agent", "params": {"model": model}}
        tools = {"id": "tools", "type": "McpTools", "params": {"server": "crm"}}
        own = {"id": "weather", "type": "Weather", "code": COMPONENT}
        for nodes in ([request, agent, tools], [own, request, agent, tools]):
            found = await report(us, exported(*nodes))
            assert "far.example" in [one["host"] for one in found["hosts"]]
            assert {"node": "asks", "url": "https://far.example/in"} in found["urls"]
            assert "openai/gpt-x" in found["models"]
            assert found["servers"] == ["crm"]
            assert {"HERE_KEY": True, "GONE_KEY": False}.items() <= {
                one["name"]: one["known"] for one in found["secrets"]
            }.items()

    @pytest.mark.parametrize("content", ["nodes: [", '{"headgate_flow": 1, "nodes": 3}', "Dear all\n", "[" * 100])
    async def test_says_of_a_file_that_it_could_not_read_that_it_was_not_inspected(
        self, us: Team, content: str
    ) -> None:
        not_inspected(await report(us, content))

    async def test_names_components_that_are_not_here(self, us: Team) -> None:
        found = await report(us, exported({"id": "odd", "type": "FromElsewhere"}))
        assert found["unknown"] == ["FromElsewhere"]
        assert found["problems"]
        assert not found["supported"]

    async def test_takes_what_an_import_takes_and_nothing_else(self, us: Team) -> None:
        twins = exported({"id": "a", "type": "ChatInput"}, {"id": "a", "type": "ChatInput"})
        loose = exported({"id": "a", "type": "ChatOutput"})
        odd = exported({"id": "odd", "type": "FromElsewhere"})
        for content in (twins, loose, odd, FLOW, f"\ufeff{loose}", f"\ufeff{FLOW}"):
            found = await report(us, content)
            answer = await us.ask("editor", "POST", "/flows/import", json={"content": content})
            assert found["supported"] == (answer.status_code == 201), content
            assert found["refused"] == ("" if found["supported"] else answer.json()["detail"])

    async def test_sets_nodes_apart_whose_places_the_file_does_not_say(self, us: Team) -> None:
        found = await report(us, exported({"id": "a", "type": "ChatInput"}, {"id": "b", "type": "ChatInput"}))
        places = [(one["position"]["x"], one["position"]["y"]) for one in found["definition"]["nodes"]]
        assert len(set(places)) == 2

    @pytest.mark.parametrize("content", ["Dear all, this is a letter.\n", "a,b\n1,2\n", "", "key: value\n"])
    async def test_says_of_other_text_that_it_is_no_flow(self, us: Team, content: str) -> None:
        found = await report(us, content)
        assert (found["supported"], found["refused"]) == (False, "The file is text, but not a flow.")

    async def test_recognises_an_app_of_dify(self, us: Team) -> None:
        found = await report(us, "app:\n  mode: workflow\nkind: app\nversion: 0.1.5\nworkflow:\n  graph: {}\n")
        assert (found["format"], found["supported"]) == ("dify", False)

    @pytest.mark.parametrize(
        ("product", "content"),
        [
            ("langflow", {"name": "Bot", "data": {"nodes": [{"id": "x", "data": {"node": {}}}], "edges": []}}),
            ("flowise", {"nodes": [{"id": "x", "data": {"inputAnchors": []}}], "edges": []}),
            ("n8n", {"name": "W", "nodes": [{"typeVersion": 1, "type": "n8n-nodes-base.code"}], "connections": {}}),
        ],
    )
    async def test_recognises_files_of_other_products(self, us: Team, product: str, content: Any) -> None:
        found = await report(us, json.dumps(content))
        assert (found["format"], found["supported"]) == (product, False)
        not_inspected(found)
        assert "cannot import yet" in found["refused"]

    @pytest.mark.parametrize(
        "content",
        [
            "",
            "{",
            "[1, 2]",
            "[" * 200_000,
            '{"headgate_flow": 1, "nodes": ' + '{"a":' * 5_000,
            '{"headgate_flow": 2}',
            '{"headgate_flow": 1, "nodes": "many"}',
            '{"data": {"nodes": 7}}',
            "PK\x03\x04\x00\x00",
            "\x00\x01\x02",
            "name: &a [*a, *a]",
            '{"headgate_flow": 1, "name": "' + "x" * 100_000 + '"}',
            exported({"id": "../../etc/passwd", "type": "ChatInput"}),
            exported({"id": "a", "type": "ChatInput"}, {"id": "a", "type": "ChatInput"}),
        ],
        ids=range(14),
    )
    async def test_of_a_hostile_file_says_what_is_wrong(self, us: Team, content: str) -> None:
        found = await report(us, content)
        assert found["refused"] or found["problems"], found
        assert len(found["refused"]) < 2_000

    async def test_of_too_large_a_file_is_refused(self, us: Team) -> None:
        answer = await us.ask("editor", "POST", "/flows/import/report", json={"content": "x" * 4_000_001})
        assert answer.status_code in {413, 422}

    async def test_is_for_those_who_may_edit_somewhere(self, us: Team) -> None:
        found = await us.answers("POST", "/flows/import/report", json={"content": FLOW})
        assert {who for who, status in found.items() if status == 200} == {
            *("editor", "publisher", "owner", "admin", "stranger"),
        }
