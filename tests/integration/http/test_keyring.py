"""The installation's keys over HTTP and on the command line."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from headgate.features.access.principal import DEFAULT_TENANT_ID
from headgate.features.keyring import service
from headgate.features.keyring.errors import NotInstallationAdmin
from headgate.foundation.database import Database
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import Settings
from tests.support.cli import answered
from tests.support.patience import PATIENCE_SECONDS
from tests.support.team import Team, team
from tests.support.tenants import add_tenant


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as client:
        yield client


async def by_state(us: Team) -> dict[tuple[str, str], Any]:
    """Purpose and state to the key."""
    items = (await us.get("admin", "/keyring"))["items"]
    return {(item["purpose"], item["state"]): item for item in items}


async def current_after(us: Team, first: str) -> str:
    """The id of the key that took the place of another, when it encrypts the one value and its rotation is finished."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            current = (await by_state(us))["secrets", "current"]
            if current["id"] != first and current["values"] == {"variables.token": 1} and not current["running"]:
                return str(current["id"])
            await asyncio.sleep(0.1)


class TestKeyring:
    async def test_is_for_admins_alone(self, us: Team) -> None:
        for method, path in (("GET", "/keyring"), ("POST", "/keyring/evidence/rotate")):
            answers = await us.answers(method, path)
            assert {who for who, status in answers.items() if status < 300} == {"admin"}

    async def test_rotates_in_a_running_server(self, us: Team, settings: Settings) -> None:
        value = {"value": "hunter22"}
        assert (await us.ask("admin", "PUT", "/organisation/variables/NAME", json=value)).status_code == 200
        first = (await by_state(us))["secrets", "current"]
        assert first["values"] == {"variables.token": 1}
        answer = await us.ask("admin", "POST", "/keyring/secrets/rotate")
        assert answer.status_code == 202, answer.text
        assert [key["id"] for key in answer.json()["items"] if key["running"]] != []
        new = await current_after(us, first["id"])
        early = await us.ask("admin", "POST", f"/keyring/keys/{new}/retire")
        assert (early.status_code, early.json()["code"]) == (409, "key_not_old")
        retired = await us.ask("admin", "POST", f"/keyring/keys/{first['id']}/retire")
        assert (retired.status_code, retired.json()) == (200, {"left": False})
        assert (await by_state(us))["secrets", "retired"]["id"] == first["id"]
        material = next((settings.data_dir / "keys").iterdir()).read_text()
        assert material not in (await us.ask("admin", "GET", "/keyring")).text

    async def test_lists_the_signing_keys_for_everybody_who_sees_runs(self, us: Team) -> None:
        [first] = await us.get("viewer", "/evidence-keys")
        assert (first["valid_until"], first["revoked_at"]) == (None, None)
        unknown = await us.ask("admin", "POST", f"/keyring/keys/{first['key_id']}/revoke", json={"reason": "x"})
        assert unknown.status_code == 404

    async def test_is_of_the_first_organisation(self, database: Database, settings: Settings) -> None:
        other = await add_tenant(database)
        assert other.tenant_id != DEFAULT_TENANT_ID
        async with database.reading() as session:
            with pytest.raises(NotInstallationAdmin):
                await service.list_keys(session, other, new_ring(settings))


class TestCommand:
    def test_rotates_retires_and_lists(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
        monkeypatch.chdir(tmp_path)
        before = {key["purpose"]: key["id"] for key in answered(capsys, "keyring", "list")}
        rotated = answered(capsys, "keyring", "rotate", "evidence")
        [new] = [key["id"] for key in rotated if (key["purpose"], key["state"]) == ("evidence", "current")]
        assert new != before["evidence"]
        assert answered(capsys, "keyring", "retire", before["secrets"], code=4)["code"] == "key_not_found"
        assert answered(capsys, "keyring", "retire", before["evidence"]) == {"id": before["evidence"], "left": False}
        assert answered(capsys, "evidence", "key")["key_id"] == new
