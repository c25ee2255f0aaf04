"""API keys that work from some networks only."""

from ipaddress import ip_network

import httpx2
import pytest
from fastapi import FastAPI

from headgate.features.accounts.keys.networks import covers, is_within
from headgate.foundation.database import Database
from headgate.foundation.settings import ServerSettings, Settings
from tests.support.people import add_key, add_user, asking, bearer, running

OFFICE = ["192.0.2.0/24", "2001:db8::/32"]


async def asked(app: FastAPI, address: str, **headers: str) -> httpx2.Response:
    async with asking(app, address) as client:
        return await client.get("/flows", headers=headers)


class TestKey:
    async def test_works_from_its_networks_only(self, guarded: FastAPI, database: Database) -> None:
        anna = await add_user(database, "anna@example.org", admin=True)
        key = bearer(await add_key(database, anna, networks=OFFICE))
        for address in ("192.0.2.7", "2001:db8::7", "::ffff:192.0.2.7"):
            assert (await asked(guarded, address, **key)).status_code == 200, address
        for address in ("198.51.100.7", "2001:db9::7", "not an address"):
            refused = await asked(guarded, address, **key)
            assert (refused.status_code, refused.json()["code"]) == (403, "key_network_refused"), address
        assert "198.51.100.7" in (await asked(guarded, "198.51.100.7", **key)).json()["detail"]
        claimed = await asked(guarded, "198.51.100.7", **key, **{"x-forwarded-for": "192.0.2.7"})
        assert claimed.status_code == 403, "nobody is believed who is no trusted proxy"

    async def test_goes_by_the_callers_address_behind_a_trusted_proxy(
        self, settings: Settings, database: Database
    ) -> None:
        anna = await add_user(database, "anna@example.org", admin=True)
        key = bearer(await add_key(database, anna, networks=OFFICE))
        server = ServerSettings(auto_login=False, trusted_proxies=[ip_network("10.0.0.5/32")])
        async with running(settings.model_copy(update={"server": server})) as app:
            inside = await asked(app, "10.0.0.5", **key, **{"x-forwarded-for": "192.0.2.7"})
            outside = await asked(app, "10.0.0.5", **key, **{"x-forwarded-for": "192.0.2.7, 198.51.100.7"})
        assert (inside.status_code, outside.status_code) == (200, 403)

    async def test_is_made_with_networks_and_makes_none_that_works_elsewhere(
        self, guarded: FastAPI, database: Database
    ) -> None:
        anna = await add_user(database, "anna@example.org", admin=True)
        key = bearer(await add_key(database, anna))
        async with asking(guarded, "192.0.2.7") as client:
            made = await client.post(
                "/api-keys", headers=key, json={"name": "office", "networks": ["192.0.2.7", *OFFICE]}
            )
            assert made.json()["networks"] == ["192.0.2.0/24", "192.0.2.7/32", "2001:db8::/32"]
            bound = bearer(made.json()["key"])
            for networks, status in (
                (None, 403),
                (["0.0.0.0/0"], 403),
                (["192.0.0.0/16"], 403),
                (["192.0.2.128/25"], 201),
            ):
                answer = await client.post("/api-keys", headers=bound, json={"name": "made", "networks": networks})
                assert answer.status_code == status, (networks, answer.text)
            wrong = await client.post("/api-keys", headers=key, json={"name": "x", "networks": ["192.0.2.7/24"]})
            assert wrong.status_code == 422
            assert "192.0.2.7/24" in wrong.text


class TestIsWithin:
    @pytest.mark.parametrize("address", [None, "", "testclient", "192.0.2.1%eth0", "192.0.2.1:80"])
    def test_refuses_what_is_no_address(self, address: str | None) -> None:
        assert not is_within(address, ["0.0.0.0/0", "::/0"])


class TestCovers:
    def test_keeps_the_two_kinds_of_addresses_apart(self) -> None:
        assert not covers(["::/0"], ["192.0.2.0/24"])
        assert not covers(["0.0.0.0/0"], ["2001:db8::/32"])
        assert covers(["0.0.0.0/0", "::/0"], OFFICE)
