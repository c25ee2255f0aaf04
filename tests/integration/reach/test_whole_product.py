"""The whole product opens no connection but through its guards, and to its own database and Redis.

The real commands are started as users start them, every component, model provider and outgoing client is used, and each
connection is seen twice: by an audit hook in every interpreter, and, where the machine allows a network namespace, as
packets, whoever sends them.
"""

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from headgate.features.models.providers import PROVIDERS, is_installed
from headgate.foundation.guarded_http.outgoing import OUTGOING, Part
from tests.integration.reach import namespace
from tests.integration.reach.visits import EXAMPLES

TOP = Path(__file__).parents[3]
SECONDS = 600
NOT_VISITED = {
    "local_models": "the weights of a model are not part of the tests",
    "oauth": "a provider is asked in tests of the connections",
    "vault": "its values are read in tests of the connections",
    "mcp_registry": "test_registry.py searches one",
    "cloud_identity": "test_cloud_stores.py uses the three libraries",
    "weights_mirror": "used instead of the publishers of the weights, whose row is visited",
}
"""Rows of the table of outgoing connections that no run here uses."""
VISITED = {
    "steps": "web", "deliveries": "web", "codev": "web", "sandbox": "web", "mcp": "mcp", "models": "openai",
    "model_lists": "ollama", "flowise": "flowise", "flowise_operator": "flowise", "single_sign_on": "provider",
    "langsmith": "langsmith", "traces": "traces", "storage": "storage", "database": "", "redis": "", "own_servers": "",
    "weights": "", "connections": "web", "step_servers": "services", "storages": "storage",
}  # fmt: skip
"""Each row of the table to the place that its connections lead to here."""
PARTS = {"serve": Part.SERVER, "up": Part.SERVER, "worker": Part.WORKER, "beat": Part.WORKER}
"""What the page of reach calls the processes of these commands."""

pytestmark = pytest.mark.xdist_group("whole product")
in_a_namespace = pytest.mark.skipif(not namespace.is_available(), reason="this machine allows no network namespaces")


@cache
def report(form: str, alone: bool, leak: str) -> dict[str, Any]:
    """Run the product once for each combination. The cache tells named from unnamed arguments: pass none by name."""
    with TemporaryDirectory(prefix="headgate-reach-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        done = subprocess.run(
            [sys.executable, "-m", "tests.integration.reach.scene"],
            input=json.dumps({"form": form, "folder": folder, "alone": alone, "leak": leak}),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            cwd=TOP,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-5000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def infrastructure(seen: dict[str, Any]) -> set[int]:
    """Ports on loopback of what the operator runs: the product's own, and the database's and Redis's."""
    relays = {one["port"] for one in seen["connections"] if one["event"] == "own"}
    return {*seen["own"], seen["redis"], *relays}


def unguarded(seen: dict[str, Any]) -> list[str]:
    """Connections and look-ups that an interpreter saw and no guard opened, with the code that did."""
    asked = {one["host"] for one in seen["connections"] if one["event"] == "asked"}
    return [
        f"{one['event']} {one['host']}:{one['port']}\n    " + "\n    ".join(one["where"])
        for one in seen["connections"]
        if one["port"] not in infrastructure(seen)
        and (
            (one["event"] in {"connect", "send"} and not one["guarded"])
            or (one["event"] == "lookup" and not is_numeric(one["host"]) and one["host"] not in asked)
        )
    ]


def is_numeric(host: str) -> bool:
    """Whether looking it up asks nobody."""
    return host in {"", "None"} or host.replace(".", "").isdigit() or ":" in host


def unaccounted(seen: dict[str, Any]) -> Counter[tuple[str, str, int]]:
    """Connections and datagrams on the wire that no guard said it opens."""
    opened = Counter(("tcp", one["host"], one["port"]) for one in seen["connections"] if one["event"] == "opened")
    tries = Counter((protocol, host, port) for protocol, host, port, _ in {tuple(one) for one in seen["packets"]})
    return Counter({one: count for one, count in (tries - opened).items() if one[2] not in infrastructure(seen)})


FORMS = pytest.mark.parametrize(
    ("form", "alone"), [pytest.param("serve", False, marks=pytest.mark.campaign), ("up", namespace.is_available())]
)
"""The server alone, and with its workers; the second in a network of its own where the machine allows one."""


@pytest.mark.timeout(SECONDS)
class TestTheProduct:
    @FORMS
    def test_opens_no_connection_of_its_own(self, form: str, alone: bool) -> None:
        seen = report(form, alone, "")
        assert unguarded(seen) == []
        assert [one for one in seen["connections"] if one["event"] == "opened"]

    @in_a_namespace
    def test_sends_no_packet_that_no_guard_opened(self) -> None:
        seen = report("up", True, "")
        assert (unaccounted(seen), seen["lost"]) == (Counter(), 0)
        assert {host for _, host, _, _ in seen["packets"]} <= {"127.0.0.1", "::1"}

    @FORMS
    def test_opens_each_connection_in_a_process_of_the_table(self, form: str, alone: bool) -> None:
        seen = report(form, alone, "")
        places = {port: name for name, port in seen["ports"].items()}
        opened = {
            (places[one["port"]], PARTS.get(one["part"], Part.COMMAND))
            for one in seen["connections"]
            if one["event"] == "opened" and one["port"] in places
        }
        allowed = {(VISITED[row.id], part) for row in OUTGOING if row.id in VISITED for part in row.opened_by}
        providers = {name for name in seen["asked"] if name in PROVIDERS}
        allowed |= {(name, part) for name in providers for place, part in allowed if place == "openai"}
        services = {name for name in seen["ports"] if name.startswith("service ")}
        allowed |= {(name, part) for name in services for place, part in allowed if place == "services"}
        assert opened - allowed == set()

    @FORMS
    def test_was_used_whole(self, form: str, alone: bool) -> None:
        seen = report(form, alone, "")
        outcome = seen["outcome"]
        assert {name: said for name, said in outcome["components"].items() if said != "completed"} == {}
        assert set(outcome["components"]) == set(EXAMPLES)
        assert set(outcome["providers"]) == {name for name, one in PROVIDERS.items() if is_installed(one)}
        assert outcome["own_code"] == "completed", outcome["own_code"]
        assert (outcome["assistant"], outcome["development"], outcome["mcp"]) == (200, 201, 200)
        assert outcome["topic"] == ["one"]
        assert seen["tools"] == ["forecast Lund 1"] * 2  # of the agent and of McpCall
        assert {name for name, count in seen["asked"].items() if not count} <= ({"provider"} if form == "up" else set())
        assert (seen["traces"] > 0, seen["stored"] > 0) == (True, True)
        if form == "serve":
            assert outcome["sign_in"][0] == 303

    def test_is_visited_by_every_row_of_the_table(self) -> None:
        assert {row.id for row in OUTGOING} == {*VISITED, *NOT_VISITED}


@pytest.mark.campaign
@pytest.mark.timeout(SECONDS)
class TestAComponentThatConnectsByItself:
    def test_is_found_with_its_place(self) -> None:
        seen = report("serve", False, "urllib")
        assert seen["outcome"] == {"leak": "completed"}, seen["log"]
        found = unguarded(seen)
        assert len(found) == 1
        assert f":{seen['ports']['web']}" in found[0]
        assert "leaks.py" in found[0]

    @in_a_namespace
    def test_of_a_compiled_library_is_found_on_the_wire(self) -> None:
        seen = report("serve", True, "native")
        assert seen["outcome"] == {"leak": "completed"}, seen["log"]
        assert unaccounted(seen) == {("tcp", "127.0.0.1", seen["ports"]["web"]): 1}
