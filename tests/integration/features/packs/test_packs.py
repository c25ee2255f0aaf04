"""Packs from archive to a run: the real sandbox, the real engine, both databases, over HTTP."""

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import func, select

from headgate.agents.codev.domain import Phase
from headgate.entrypoints.access_control import AccessControl
from headgate.entrypoints.compose import Parts, open_parts
from headgate.entrypoints.http.state import Served, ServedState
from headgate.features.access.errors import PermissionMissing
from headgate.features.access.principal import LOCAL, Access, Principal
from headgate.features.audit.tables import AuditEvent
from headgate.features.catalog.routes import router as catalog_router
from headgate.features.connections.routes import router as connections_router
from headgate.features.flows.packs.routes import router as packs_router
from headgate.features.flows.packs.service import Consent
from headgate.features.flows.routes import router as flows_router
from headgate.features.packs.errors import (
    BadPack,
    NotPackOperator,
    PackBreaksFlows,
    PackInstalled,
    PackInUse,
    PackNameTaken,
    PackNotFound,
    PackNotTrusted,
)
from headgate.features.packs.tables import PackComponent, PackItem, PackRow
from headgate.features.runs.routes import router as runs_router
from headgate.foundation.settings import Settings
from headgate.sandbox.report import probe
from tests.support.api import api
from tests.support.own_place import open_place
from tests.support.packs import OTHER_SIGNER, SIGNER, archive_of, folder_of, set_version
from tests.support.tenants import add_tenant

pytestmark = pytest.mark.skipif(bool(probe().missing), reason="packs are refused where code cannot be isolated")
TRUSTED = Consent(trust=SIGNER.key.key_id)
Client = httpx2.AsyncClient
SPEC = """name: Uses a pack
nodes:
  text: TextInput
  repeat: AcmeTools
    times: 3
  out: ChatOutput
edges:
  text.text -> repeat.text
  repeat.repeated -> out.input
"""
_TEMPLATE = "---\ntitle: T\ndescription: D\n- e\n---\nname: T\nnodes:\n  a: TextInput\n---\n"
_WITH_COUNT = '''\
from headgate.sdk import Component, Text, field, output


class AcmeTools(Component):
    """Repeats a text with a hyphen."""

    label = "Acme tools"
    category = "text"

    text: str = field(label="Text", main=True, tool_mode=True)
    count: int = field(label="Count", ge=1, le=9)

    @output()
    def repeated(self) -> Text:
        return "-".join([self.text] * self.count)
'''


@pytest.fixture
async def parts(settings: Settings) -> AsyncIterator[Parts]:
    async with open_parts(settings) as found:
        yield found


@pytest.fixture
async def client(parts: Parts) -> AsyncIterator[Client]:
    async with _client(parts) as found:
        yield found


def _client(parts: Parts, principal: Principal = LOCAL) -> Any:
    served = ServedState(parts, Served(parts), AccessControl(parts))
    routers = (packs_router, catalog_router, flows_router, runs_router, connections_router)
    return api(*routers, principal=principal, served=served)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_of(tmp_path / "source")


def second(folder: Path, code: str | None = None) -> bytes:
    """The archive of version 0.2.0, by default with a changed docstring."""
    set_version(folder, "0.2.0")
    file = folder / "components/acme_tools.py"
    file.write_text(code or file.read_text().replace("Repeats a text.", "Repeats any text."))
    (folder / "templates/first.flow").unlink(missing_ok=True)
    return archive_of(folder)


def body(archive: bytes, **more: object) -> dict[str, object]:
    return {"content": base64.b64encode(archive).decode(), **more}


async def count(parts: Parts, table: type) -> int:
    async with parts.database.reading() as session:
        return (await session.execute(select(func.count()).select_from(table))).scalar_one()


async def run(client: Client, flow_id: str) -> dict[str, Any]:
    outcome = await client.post(f"/flows/{flow_id}/runs", json={"text": "hey", "wait": True})
    assert outcome.status_code in {200, 201}, outcome.text
    return dict(outcome.json())


class TestTrust:
    async def test_an_unknown_key_is_refused_and_named(self, parts: Parts, folder: Path) -> None:
        with pytest.raises(PackNotTrusted, match=SIGNER.key.key_id):
            await parts.packs.install(LOCAL, archive_of(folder), Consent())
        assert await count(parts, PackRow) == 0

    async def test_consent_to_another_key_is_refused(self, parts: Parts, folder: Path) -> None:
        with pytest.raises(PackNotTrusted):
            await parts.packs.install(LOCAL, archive_of(folder, OTHER_SIGNER), TRUSTED)

    async def test_an_unsigned_pack_needs_consent(self, parts: Parts, folder: Path) -> None:
        archive = archive_of(folder, None)
        with pytest.raises(PackNotTrusted, match="not signed"):
            await parts.packs.install(LOCAL, archive, TRUSTED)
        await parts.packs.install(LOCAL, archive, Consent(unsigned=True))
        (entry,) = await parts.packs.entries(LOCAL)
        assert entry.row.key_id is None

    async def test_a_trusted_key_stays_trusted_until_it_is_removed(self, parts: Parts, folder: Path) -> None:
        await parts.packs.trust(LOCAL, SIGNER.key.public_key, "Acme")
        await parts.packs.install(LOCAL, archive_of(folder), Consent())
        await parts.packs.distrust(LOCAL, SIGNER.key.key_id)
        with pytest.raises(PackNotTrusted):
            await parts.packs.upgrade(LOCAL, "acme-tools", second(folder), Consent())
        (entry,) = await parts.packs.entries(LOCAL)
        assert (entry.row.version, entry.signer) == ("0.1.0", None)

    async def test_only_admins_of_the_first_organisation(self, parts: Parts, folder: Path) -> None:
        other = await add_tenant(parts.database)
        for work in (parts.packs.entries(other), parts.packs.install(other, archive_of(folder), TRUSTED)):
            with pytest.raises(NotPackOperator):
                await work


class TestInstall:
    async def test_its_parts_are_there_for_every_organisation(self, parts: Parts, folder: Path) -> None:
        await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)
        for principal in (LOCAL, await add_tenant(parts.database)):
            async with _client(parts, principal) as client:
                own = await parts.workshop.components.own_components(principal)  # what the assistant and MCP use
                assert [(component.type, component.pack) for component in own] == [("AcmeTools", "acme-tools")]
                components = {one["type"]: one for one in (await client.get("/components")).json()}
                assert "class AcmeTools" in components["AcmeTools"]["code"]
                hits = (await client.get("/components/search?q=acme")).json()
                assert hits[0]["type"] == "AcmeTools"
                assert "acme-tools-first" in {one["id"] for one in (await client.get("/templates")).json()}
                kinds = {one["id"]: one for one in (await client.get("/connections/kinds")).json()["items"]}
                assert kinds["acme-tools.service"]["label"] == "Acme tools"
                words = (await client.get("/packs/words/sv")).json()["words"]
                assert words["Repeats a text."] == "Upprepar en text."

    async def test_the_template_becomes_a_flow_that_runs(self, parts: Parts, client: Client, folder: Path) -> None:
        await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)
        created = await client.post("/flows", json={"template": "acme-tools-first"})
        assert created.status_code == 201, created.text
        assert (await run(client, created.json()["id"]))["status"] == "completed"

    async def test_a_connection_of_its_kind_is_one_of_the_built_in_kind(
        self, parts: Parts, client: Client, folder: Path
    ) -> None:
        await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)
        added = await client.post(
            "/connections", json={"name": "acme", "kind": "acme-tools.service", "secrets": {"token": "secret-token"}}
        )
        assert added.status_code == 201, added.text
        assert (added.json()["kind"], added.json()["fields"]["url"]) == ("bearer", "https://api.example.org/")
        await parts.packs.remove(LOCAL, "acme-tools")
        assert (await client.get("/connections/acme")).json()["kind"] == "bearer"

    async def test_two_at_once_are_one(self, parts: Parts, folder: Path) -> None:
        archive = archive_of(folder)
        outcomes = await asyncio.gather(
            *(parts.packs.install(LOCAL, archive, TRUSTED) for _ in range(2)), return_exceptions=True
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["PackInstalled", "Preview"]
        assert (await count(parts, PackRow), await count(parts, PackComponent)) == (1, 1)

    async def test_two_packs_with_one_name_at_once_are_one(self, parts: Parts, folder: Path, tmp_path: Path) -> None:
        code = (folder / "components/acme_tools.py").read_text().replace("class AcmeTools", "class ACMETools")
        other = folder_of(tmp_path / "other", "other", **{"components/other.py": code, "templates/first.flow": None})
        (other / "tests/cases.json").unlink()
        outcomes = await asyncio.gather(
            *(parts.packs.install(LOCAL, archive_of(each), TRUSTED) for each in (folder, other)),
            return_exceptions=True,
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["PackNameTaken", "Preview"]
        assert await count(parts, PackRow) == 1

    async def test_the_audit_log_names_key_and_digest(self, parts: Parts, folder: Path) -> None:
        preview = await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)
        await parts.packs.remove(LOCAL, "acme-tools")
        async with parts.database.reading() as session:
            rows = (await session.execute(select(AuditEvent.action, AuditEvent.payload))).all()
        actions = [action for action, _ in rows if action.startswith("pack")]
        assert actions == ["pack_signer.added", "pack.installed", "pack.removed"]
        assert any(preview.pack.digest in str(payload) for _, payload in rows)


class TestHostileContent:
    @pytest.mark.parametrize(
        ("code", "reason"),
        [
            ("import subprocess\n", "subprocess"),
            ("import numpy\n", "does not declare as a library"),
            ("from headgate.foundation import settings\n", "headgate"),
            ("import requests\n", "does not declare as a library"),
            ('URL = "https://evil.example/x"\n', "connects to evil.example"),
            ("eval('1')\n", "eval"),
            ("def f(:\n", "syntax"),
            ("x = 1\n", "components/acme_tools.py"),
        ],
    )
    async def test_code_is_refused_before_it_is_stored(
        self, parts: Parts, folder: Path, code: str, reason: str
    ) -> None:
        file = folder / "components/acme_tools.py"
        text = file.read_text()
        file.write_text(code + (text if code != "x = 1\n" else ""))
        with pytest.raises(BadPack, match=reason):
            await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)
        assert (await count(parts, PackRow), await count(parts, PackItem)) == (0, 0)

    @pytest.mark.parametrize("name", ["TextInput", "textinput"])
    async def test_the_name_of_a_built_in_component(self, parts: Parts, folder: Path, name: str) -> None:
        file = folder / "components/acme_tools.py"
        file.write_text(file.read_text().replace("class AcmeTools", f"class {name}"))
        with pytest.raises((PackNameTaken, BadPack)):
            await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)

    async def test_texts_with_terminal_controls(self, parts: Parts, folder: Path) -> None:
        file = folder / "components/acme_tools.py"
        file.write_text(file.read_text().replace('label = "Acme tools"', 'label = "Acme" + chr(27) + "[2J"'))
        with pytest.raises(BadPack, match="invisible character"):
            await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)

    @pytest.mark.parametrize(
        ("path", "text"),
        [
            ("connections/service.json", '{"label": "x", "kind": "none-such"}'),
            ("connections/service.json", '{"label": "x", "kind": "bearer", "fields": {"token": "a-secret"}}'),
            ("connections/service.json", '{"label": "x", "kind": "bearer", "fields": {"url": "file:///etc"}}'),
            ("connections/service.json", '{"label": "x\\u001b[2J", "kind": "bearer"}'),
            ("connections/service.json", "[]"),
            ("templates/first.flow", "no template"),
            ("templates/first.flow", "---\ntitle: T\ndescription: D\n- e\n---\nname: T\nnodes:\n  a: NoneSuch\n"),
            (
                "templates/first.flow",
                _TEMPLATE + "form: {a: &a [1], b: [*a, *a]}\n",
            ),
            (
                "templates/first.flow",
                "---\ntitle: T\ndescription: D\n- e\n---\nname: T\nnodes:\n  a: TextInput\n---\n- 1\n",
            ),
            ("translations/sv.json", '{"a": 1}'),
            ("translations/sv.json", "{"),
        ],
    )
    async def test_other_files(self, parts: Parts, folder: Path, path: str, text: str) -> None:
        (folder / path).write_text(text)
        with pytest.raises(BadPack, match=path.partition(".")[0]):
            await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)
        assert await count(parts, PackRow) == 0

    async def test_another_version_of_headgate(self, parts: Parts, folder: Path) -> None:
        source = folder / "pack.toml"
        source.write_text(source.read_text().replace('since = "0.1.0"', 'since = "999.0.0"'))
        with pytest.raises(BadPack, match="works with Headgate from"):
            await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)

    async def test_a_library_that_is_not_installed(self, parts: Parts, folder: Path) -> None:
        source = folder / "pack.toml"
        source.write_text(source.read_text().replace("libraries = []", 'libraries = ["none_such_library"]'))
        with pytest.raises(BadPack, match="not installed"):
            await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)


class TestUpgrade:
    async def test_flows_keep_their_code_until_their_draft_is_updated(
        self, parts: Parts, client: Client, folder: Path
    ) -> None:
        await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)
        flow = (await client.post("/flows", json={"spec": SPEC})).json()
        await client.post(f"/flows/{flow['id']}/publish", json={})
        preview = await parts.packs.upgrade(LOCAL, "acme-tools", second(folder), Consent())
        assert [(each.use.flow_id, each.problems) for each in preview.flows] == [(flow["id"], ())]
        after = (await client.get(f"/flows/{flow['id']}")).json()
        assert after["revision"] == flow["revision"]
        assert (await run(client, flow["id"]))["status"] == "completed"
        (entry,) = await parts.packs.entries(LOCAL)
        assert entry.uses[0].in_draft.isdisjoint(entry.current)
        updated = await client.post(f"/packs/flows/{flow['id']}/update")
        assert updated.json() == {"flow_id": flow["id"], "revision": flow["revision"] + 1}
        draft = (await client.get(f"/flows/{flow['id']}")).json()["definition"]
        assert "Repeats any text." in next(node["code"] for node in draft["nodes"] if node["id"] == "repeat")
        assert (await run(client, flow["id"]))["status"] == "completed"
        again = await client.post(f"/packs/flows/{flow['id']}/update")
        assert again.json()["revision"] == flow["revision"] + 1

    async def test_names_flows_that_would_not_be_ready_and_needs_consent(
        self, parts: Parts, client: Client, folder: Path
    ) -> None:
        await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)
        flow = (await client.post("/flows", json={"spec": SPEC})).json()
        archive = second(folder, _WITH_COUNT)
        rehearsed = (await client.post("/packs/preview", json=body(archive))).json()
        assert rehearsed["installed"] == "0.1.0"
        assert "AcmeTools: the field 'times' is removed." in rehearsed["changes"]
        assert "AcmeTools: the field 'count' is new and required." in rehearsed["changes"]
        assert rehearsed["flows"][0]["flow_id"] == flow["id"]
        assert any("'times'" in problem for problem in rehearsed["flows"][0]["problems"])
        refused = await client.put("/packs/acme-tools", json=body(archive))
        assert (refused.status_code, refused.json()["code"]) == (409, "pack_breaks_flows")
        assert "Uses a pack" in refused.json()["detail"]
        upgraded = await client.put("/packs/acme-tools", json=body(archive, allow_breaking=True))
        assert upgraded.status_code == 200, upgraded.text
        assert (await run(client, flow["id"]))["status"] == "completed"

    async def test_a_removed_component_is_a_problem(self, parts: Parts, client: Client, folder: Path) -> None:
        await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)
        await client.post("/flows", json={"spec": SPEC})
        archive = second(folder, _WITH_COUNT.replace("class AcmeTools", "class AcmeOther"))
        with pytest.raises(PackBreaksFlows):
            await parts.packs.upgrade(LOCAL, "acme-tools", archive, Consent())

    async def test_flows_of_others_are_counted_and_not_named(self, parts: Parts, folder: Path) -> None:
        await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)
        async with _client(parts, await add_tenant(parts.database)) as others:
            flow = (await others.post("/flows", json={"spec": SPEC.replace("Uses a pack", "Secret name")})).json()
            assert (await run(others, flow["id"]))["status"] == "completed"
        async with _client(parts) as client:
            text = (await client.get("/packs")).text
            assert ('"other_flows":1' in text, "Secret name" in text, flow["id"] in text) == (True, False, False)
            refused = await client.delete("/packs/acme-tools")
            assert refused.status_code == 409
            assert "1 of other organisations" in refused.json()["detail"]
            assert flow["id"] not in refused.text

    async def test_an_older_or_the_same_version_is_refused(self, parts: Parts, folder: Path) -> None:
        first = archive_of(folder)
        await parts.packs.install(LOCAL, second(folder), TRUSTED)
        for archive in (first, archive_of(folder)):
            with pytest.raises(PackInstalled):
                await parts.packs.upgrade(LOCAL, "acme-tools", archive, TRUSTED)

    async def test_a_pack_that_is_not_installed(self, parts: Parts, folder: Path) -> None:
        with pytest.raises(PackNotFound):
            await parts.packs.upgrade(LOCAL, "acme-tools", archive_of(folder), TRUSTED)
        with pytest.raises(BadPack, match="not other"):
            await parts.packs.upgrade(LOCAL, "other", archive_of(folder), TRUSTED)


class TestRemove:
    async def test_is_refused_while_a_draft_or_published_version_uses_it(
        self, parts: Parts, client: Client, folder: Path
    ) -> None:
        await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)
        flow = (await client.post("/flows", json={"spec": SPEC})).json()
        await client.post(f"/flows/{flow['id']}/publish", json={})
        await parts.packs.upgrade(LOCAL, "acme-tools", second(folder), Consent())
        with pytest.raises(PackInUse, match="Uses a pack"):
            await parts.packs.remove(LOCAL, "acme-tools")
        empty = {"definition": {"name": "Uses a pack", "nodes": []}, "revision": flow["revision"]}
        assert (await client.patch(f"/flows/{flow['id']}/draft", json=empty)).status_code == 200
        with pytest.raises(PackInUse):
            await parts.packs.remove(LOCAL, "acme-tools")
        await client.delete(f"/flows/{flow['id']}")
        await parts.packs.remove(LOCAL, "acme-tools")
        assert (await count(parts, PackRow), await count(parts, PackItem)) == (0, 0)
        assert "AcmeTools" not in {one["type"] for one in (await client.get("/components")).json()}
        with pytest.raises(PackNotFound):
            await parts.packs.remove(LOCAL, "acme-tools")

    async def test_members_may_not(self, parts: Parts, folder: Path) -> None:
        member = Principal(LOCAL.tenant_id, LOCAL.user_id, LOCAL.space_id, Access())
        for work in (parts.packs.remove(member, "acme-tools"), parts.packs.install(member, b"", TRUSTED)):
            with pytest.raises(PermissionMissing):
                await work


SKILL = """# For readers

## Plan

Name every step in Latin.

## Test ##

Expect Latin.
"""


class TestSkills:
    async def test_follow_ours_in_the_instructions_of_the_development_agent_while_the_pack_is_installed(
        self, parts: Parts, client: Client, folder: Path
    ) -> None:
        before = await open_place(parts)
        (folder / "skills").mkdir()
        (folder / "skills/latin.md").write_text(SKILL)
        archive = archive_of(folder)
        preview = (await client.post("/packs/preview", json=body(archive))).json()
        assert {"kind": "skill", "name": "acme-tools.latin", "text": SKILL} in preview["parts"]
        await parts.packs.install(LOCAL, archive, TRUSTED)
        place = await open_place(parts)
        for phase, added in ((Phase.PLAN, "Name every step in Latin."), (Phase.TEST, "Expect Latin.")):
            knowledge = place.knowledge(phase)
            assert knowledge.startswith(before.knowledge(phase))
            assert knowledge.endswith(added)
            assert "## Skill acme-tools.latin" in knowledge
        assert place.knowledge(Phase.PATCH) == before.knowledge(Phase.PATCH)
        await parts.packs.remove(LOCAL, "acme-tools")
        assert (await open_place(parts)).knowledge(Phase.PLAN) == before.knowledge(Phase.PLAN)

    @pytest.mark.parametrize(
        ("text", "match"),
        [
            ("# Only for readers\n", "no section of a phase"),
            (f"## Plan\n{'x' * 20_000}", "more than 20000 bytes"),
            ("## Plan\nhid\u200bden", "hidden character"),
        ],
    )
    async def test_that_no_phase_has_are_too_long_or_hide_text_are_refused(
        self, parts: Parts, folder: Path, text: str, match: str
    ) -> None:
        (folder / "skills").mkdir()
        (folder / "skills/latin.md").write_text(text)
        with pytest.raises(BadPack, match=match):
            await parts.packs.install(LOCAL, archive_of(folder), TRUSTED)
        assert await count(parts, PackRow) == 0
