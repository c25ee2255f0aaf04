"""Own components whose authors mean harm: what they are given, and what comes of what they answer. All for real."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from headgate.entrypoints.compose import Parts, open_parts
from headgate.features.access.principal import LOCAL
from headgate.features.secrets import service as variables
from headgate.foundation.settings import SandboxSettings
from headgate.sandbox.report import probe
from tests.integration.features.flows.test_own_code import Client, as_, checked_flow, flow_of, ok, run
from tests.support.databases import SqliteFiles, make_settings
from tests.support.own_code import component
from tests.support.tenants import add_tenant

pytestmark = pytest.mark.skipif(bool(probe().missing), reason="own code is refused where it cannot be isolated")
KEY = "the-installations-own-word"
HEAD = "from typing import ClassVar\n\nfrom pydantic import SecretStr\n"


@pytest.fixture
async def parts(sqlite_files: SqliteFiles, tmp_path: Path) -> AsyncIterator[Parts]:
    sqlite_files.fresh(tmp_path)
    opened = SandboxSettings(hosts=("api.example.org",))
    async with open_parts(make_settings(tmp_path, sandbox=opened)) as found:
        yield found


@pytest.fixture
async def client(parts: Parts) -> AsyncIterator[Client]:
    async with as_(parts) as found:
        yield found


async def keep(parts: Parts, name: str, *hosts: str) -> None:
    async with parts.database.writing() as session:
        await variables.set_variable(session, LOCAL, parts.box, name=name, value=SecretStr(KEY), hosts=hosts)


def thief(host: str, gives: str) -> str:
    body = f"""
hosts: ClassVar = ("{host}",)
key: SecretStr = field(label="Key")

@output()
def said(self) -> Text:
    key = self.key.get_secret_value()
    {gives}
"""
    return component(body, HEAD)


async def stolen(client: Client, code: str, name: str) -> dict[str, Any]:
    flow_id = await checked_flow(client, flow_of(code, key={"secret": name}))
    return await run(client, flow_id)


class TestSecrets:
    async def test_of_the_servers_environment_never_go_to_own_code(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        ended = await stolen(client, thief("api.openai.com", "return key[::-1]"), "OPENAI_API_KEY")
        assert ended["status"] == "failed"
        assert KEY[::-1] not in str(ended)

    async def test_stay_where_the_operator_does_not_let_own_code_reach_the_server(
        self, parts: Parts, client: Client
    ) -> None:
        await keep(parts, "CRM_KEY", "https://crm.example.org")
        ended = await stolen(client, thief("crm.example.org", "return key[::-1]"), "CRM_KEY")
        assert ended["status"] == "failed"
        assert KEY[::-1] not in str(ended)

    @pytest.mark.parametrize(
        "gives",
        [
            "raise ValueError('no answer from https://api.example.org/?key=' + key)",
            "raise type(key, (Exception,), {})('no')",
            "self.ctx.log('asking', key=key); return 'x'",
        ],
    )
    async def test_do_not_get_out_by_an_error_or_a_log(self, parts: Parts, client: Client, gives: str) -> None:
        await keep(parts, "API_KEY", "https://api.example.org")
        ended = await stolen(client, thief("api.example.org", gives), "API_KEY")
        assert (ended["status"], ended["error"]["code"]) == ("failed", "secret_kept")
        assert KEY not in str(ended)

    async def test_are_not_for_components_that_leave_the_port_open(self, parts: Parts, client: Client) -> None:
        await keep(parts, "API_KEY", "https://api.example.org")
        ended = await stolen(client, thief("api.example.org:*", "return 'x'"), "API_KEY")
        assert "API_KEY" in str(ended["error"])
        assert "Declare each server" in str(ended["error"])


def spoiler(line: str) -> dict[str, Any]:
    """A flow whose code gives what is in its module's memory and its input, and does a thing to its process before."""
    body = f"""
heard: Text = field(label="Heard")

@output()
def said(self) -> Text:
    MEMORY.append(self.heard)
    {line}
    return json.dumps(MEMORY)
"""
    code = component(body, "import json\nimport threading\nimport time\n\nMEMORY = []\n")
    return flow_of(code, edges=["heard text own heard"])


class TestProcesses:
    """What code does to its process reaches no other run, of the same flow, in another space, or of another person."""

    @pytest.mark.parametrize(
        "line",
        [
            "pass",
            "json.dumps = lambda *things, **named: '\"a lie\"'; return str(MEMORY)",
            "json.loads = None",
            "threading.Thread(target=lambda: (time.sleep(0.05), MEMORY.append('late'))).start()",
            "threading.Thread(target=lambda: (time.sleep(0.02), setattr(json, 'dumps', len))).start()",
        ],
    )
    async def test_serve_one_step_of_one_run(self, parts: Parts, line: str) -> None:
        spoiled, plain = spoiler(line), spoiler("pass")
        other = await add_tenant(parts.database, "Other")
        async with as_(parts) as first, as_(parts, other) as second:
            for client in (first, second):
                flow_id = await checked_flow(client, spoiled)
                for heard in ("alpha", "beta"):
                    ended = await run(client, flow_id, text=heard)
                    assert "alpha" not in str(ended["text"]) or heard == "alpha"
                flow_id = await checked_flow(client, plain)
                for heard in ("gamma", "delta"):
                    assert (await run(client, flow_id, text=heard))["text"] == f'["{heard}"]'


class TestMuchCode:
    async def test_is_not_read_before_a_run(self, client: Client) -> None:
        nodes = [{"id": f"n{one}", "type": f"N{one}", "code": f"x = {one}\n#" + "a" * 99_000} for one in range(6)]
        flow = await ok(client, "/flows", definition={"name": "Much", "nodes": nodes})
        assert any("characters of code; 500000 are allowed" in one["message"] for one in flow["issues"])
        refused = await client.post(f"/flows/{flow['id']}/runs", json={"wait": True})
        assert refused.status_code == 413
        assert "characters of custom code; 500000 are allowed" in refused.json()["detail"]

    async def test_is_not_read_to_be_checked(self, client: Client) -> None:
        found = await ok(client, "/components/check", code="x = [" + "-a," * 300_000 + "]")
        assert [one["code"] for one in found["findings"]] == ["syntax_error"]
        assert "longer than" in found["findings"][0]["message"]
