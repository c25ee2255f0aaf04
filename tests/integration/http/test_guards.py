"""Who the server answers to, whose pages may change things, and what every answer carries."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI, Request

from headgate.entrypoints.http.app import create_app
from headgate.foundation.settings import ServerSettings, Settings
from tests.integration.http.conftest import serving
from tests.integration.http.test_api import JSON, is_problem
from tests.support.databases import SqliteFiles, make_settings

TEAM: dict[str, Any] = {"auto_login": False, "public_url": "https://headgate.example.org"}
ALIVE = "/health"
ASKS = {
    "origin": "https://intranet.example.org",
    "access-control-request-method": "POST",
    "access-control-request-headers": "x-api-key,content-type",
}
EVERYWHERE = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@pytest.fixture
def settings(sqlite_files: SqliteFiles, tmp_path: Path) -> Settings:
    """One database will do: none of this reaches it."""
    sqlite_files.fresh(tmp_path)
    return make_settings(tmp_path)


class TestHosts:
    @pytest.mark.parametrize(
        "host",
        [
            "headgate.example.org",
            "HEADGATE.example.org:443",
            "headgate.example.org.",
            "other.example.org",
            "127.0.0.1:7411",
            "localhost",
            "[::1]:7411",
        ],
    )
    async def test_that_belong_to_the_server_are_answered(self, settings: Settings, host: str) -> None:
        async with serving(settings, **TEAM, allowed_hosts=["Other.example.org"]) as client:
            assert (await client.get(ALIVE, headers={"host": host})).status_code == 200

    @pytest.mark.parametrize(
        "host",
        [
            "evil.example",
            "headgate.example.org.evil.example",
            "127.0.0.1.evil.example",
            "headgate.example.org@evil.example",
            "evil.example@headgate.example.org",
            "headgate.example.org/evil.example",
            "headgate.example.org:443:443",
            "10.0.0.1",
            "0.0.0.0",
            "[::ffff:10.0.0.1]",
            "[evil.example]",
            "",
        ],
    )
    async def test_of_anybody_else_are_refused_in_both_modes(self, settings: Settings, host: str) -> None:
        wide: dict[str, Any] = {"insecure": True, "host": "0.0.0.0"}
        for server in (TEAM, {}, wide):
            async with serving(settings, **server) as client:
                is_problem(await client.get(ALIVE, headers={"host": host}), 403, "host_refused")

    async def test_named_twice_are_refused(self, client: httpx2.AsyncClient) -> None:
        twice = [("host", "127.0.0.1"), ("host", "evil.example")]
        is_problem(await client.get(ALIVE, headers=twice), 403, "host_refused")

    async def test_of_a_team_do_not_open_auto_login(self, settings: Settings) -> None:
        async with serving(settings, allowed_hosts=["evil.example"], public_url="https://evil.example") as client:
            is_problem(await client.get(ALIVE, headers={"host": "evil.example"}), 403, "host_refused")

    async def test_may_be_the_address_that_was_reached(self, settings: Settings) -> None:
        async with serving(settings, **TEAM, base_url="http://192.0.2.7:7411") as client:
            assert (await client.get(ALIVE)).status_code == 200
            other = {"host": "192.0.2.8:7411"}
            is_problem(await client.get(ALIVE, headers=other), 403, "host_refused")

    async def test_refused_are_told_what_to_set(self, settings: Settings) -> None:
        async with serving(settings, **TEAM) as client:
            answer = await client.get(ALIVE, headers={"host": "evil.example"})
            assert "HEADGATE_SERVER__ALLOWED_HOSTS" in answer.json()["remedy"]
            assert "https://headgate.example.org" in answer.json()["remedy"]


class TestOrigins:
    @pytest.mark.parametrize(
        "origin",
        [
            "https://evil.example",
            "null",
            "http://headgate.example.org",
            "https://headgate.example.org.evil.example",
            "https://headgate.example.org:8443",
            "file://",
        ],
    )
    async def test_of_another_site_change_nothing(self, settings: Settings, origin: str) -> None:
        async with serving(settings, **TEAM) as client:
            asked = {"host": "headgate.example.org", "origin": origin}
            is_problem(await client.post("/api/v1/flows", json={}, headers=asked), 403, "origin_refused")

    async def test_of_our_own_pages_may(self, settings: Settings) -> None:
        async with serving(settings, public_url="https://headgate.example.org") as client:
            for origin in ("https://headgate.example.org", "http://127.0.0.1:7411"):
                made = await client.post("/api/v1/flows", json={}, headers={"origin": origin})
                assert made.status_code == 201, made.text

    async def test_that_a_browser_keeps_back_are_another_sites(self, client: httpx2.AsyncClient) -> None:
        asked = {"sec-fetch-site": "cross-site"}
        is_problem(await client.post("/api/v1/flows", json={}, headers=asked), 403, "origin_refused")


class TestOtherSites:
    async def test_are_shut_out_unless_they_are_named(self, client: httpx2.AsyncClient) -> None:
        asked = await client.options("/api/v1/flows", headers=ASKS)
        assert asked.status_code == 405
        read = await client.get("/api/v1/flows", headers={"origin": "https://intranet.example.org"})
        assert not [name for name in (*asked.headers, *read.headers) if name.startswith("access-control")]

    async def test_that_are_named_may_call_with_a_key_and_without_cookies(self, settings: Settings) -> None:
        async with serving(settings, cors_origins=["https://intranet.example.org"]) as client:
            asked = await client.options("/api/v1/flows", headers=ASKS)
            assert asked.status_code == 200
            assert asked.headers["access-control-allow-origin"] == "https://intranet.example.org"
            assert "x-api-key" in asked.headers["access-control-allow-headers"].lower()
            assert "access-control-allow-credentials" not in asked.headers
            own = {"origin": "https://intranet.example.org"}
            made = await client.post("/api/v1/flows", json={}, headers=own)
            assert made.status_code == 201
            assert made.headers["access-control-allow-origin"] == "https://intranet.example.org"
            refused = await client.get("/api/v1/flows/x", headers=own)
            assert refused.headers["access-control-allow-origin"] == "https://intranet.example.org"

    @pytest.mark.parametrize(
        "origin", ["https://intranet.example.org.evil.example", "http://intranet.example.org", "null"]
    )
    async def test_that_look_like_a_named_one_are_shut_out(self, settings: Settings, origin: str) -> None:
        async with serving(settings, cors_origins=["https://intranet.example.org"]) as client:
            asked = await client.options("/api/v1/flows", headers=ASKS | {"origin": origin})
            assert asked.status_code == 400
            assert "access-control-allow-origin" not in asked.headers
            is_problem(await client.post("/api/v1/flows", json={}, headers={"origin": origin}), 403, "origin_refused")


class TestProxies:
    @pytest.mark.parametrize(
        ("trusted", "address", "claim", "seen"),
        [
            ([], "127.0.0.1", "203.0.113.9", ("127.0.0.1", "http")),
            (["10.0.0.0/24"], "10.0.1.1", "203.0.113.9", ("10.0.1.1", "http")),
            (["10.0.0.0/24"], "10.0.0.5", "203.0.113.9", ("203.0.113.9", "https")),
            (["10.0.0.0/24"], "::ffff:10.0.0.5", "203.0.113.9", ("203.0.113.9", "https")),
            (["10.0.0.5"], "10.0.0.5", "127.0.0.1, 203.0.113.9", ("203.0.113.9", "https")),
            (["10.0.0.0/24"], "10.0.0.5", "127.0.0.1, 203.0.113.9, 10.0.0.6", ("203.0.113.9", "https")),
        ],
    )
    async def test_are_believed_only_when_they_are_named(
        self, settings: Settings, trusted: list[Any], address: str, claim: str, seen: tuple[str, str]
    ) -> None:
        server = ServerSettings(trusted_proxies=trusted)
        app = create_app(settings.model_copy(update={"server": server}))
        found: list[tuple[str, str]] = []

        @app.get("/who")
        async def who(request: Request) -> None:
            assert request.client is not None
            found.append((request.client.host, request.url.scheme))

        transport = httpx2.ASGITransport(app=app, client=(address, 1))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            await client.get("/who", headers={"x-forwarded-for": claim, "x-forwarded-proto": "https"})
        assert found == [seen]

    def test_cannot_be_everybody(self) -> None:
        with pytest.raises(
            ValueError, match=("a network of all addresses trusts everyone; list the proxies' addresses")
        ):
            ServerSettings(trusted_proxies=["0.0.0.0/0"])

    async def test_do_not_name_the_host(self, settings: Settings) -> None:
        async with serving(settings, trusted_proxies=["127.0.0.1"]) as client:
            asked = {"host": "evil.example", "x-forwarded-host": "127.0.0.1"}
            is_problem(await client.get(ALIVE, headers=asked), 403, "host_refused")


class TestHeaders:
    async def test_are_on_every_answer(self, app: FastAPI, client: httpx2.AsyncClient) -> None:
        async def broken() -> None:
            raise RuntimeError

        app.add_api_route("/broken", broken)
        answers = [
            await client.get("/api/v1/flows"),
            await client.get("/health"),
            await client.get("/metrics"),
            await client.get("/docs"),
            await client.get("/"),
            await client.get("/static-offline-docs/swagger-ui.css"),
            await client.get("/api/v1/nowhere"),
            await client.put("/api/v1/flows"),
            await client.get("/broken"),
            await client.get("/health", headers={"host": "evil.example"}),
            await client.post("/api/v1/flows", content=b"x" * (5 * 1024 * 1024), headers=JSON),
        ]
        assert [one.status_code for one in answers] == [200, 200, 200, 200, 200, 200, 404, 405, 500, 403, 413]
        for answer in answers:
            assert EVERYWHERE.items() <= dict(answer.headers).items(), answer.url
            assert answer.headers["content-security-policy"].startswith("default-src 'none'")
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
            assert "camera=()" in answer.headers["permissions-policy"]
            assert len(answer.headers["x-request-id"]) == 32
            assert "strict-transport-security" not in answer.headers
            for name in (*EVERYWHERE, "content-security-policy"):
                assert len(answer.headers.get_list(name)) == 1

    async def test_let_an_answer_of_the_api_load_nothing(self, client: httpx2.AsyncClient) -> None:
        policy = (await client.get("/api/v1/flows")).headers["content-security-policy"]
        assert policy == "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    async def test_let_pages_run_scripts_of_this_server_only(self, client: httpx2.AsyncClient) -> None:
        policy = (await client.get("/")).headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy

    async def test_let_the_documentation_run_its_own_script(self, client: httpx2.AsyncClient) -> None:
        page = await client.get("/docs")
        (inline,) = re.findall(r"<script>(.*?)</script>", page.text, re.DOTALL)
        allowed = b64encode(sha256(inline.encode()).digest()).decode()
        policy = page.headers["content-security-policy"]
        assert f"script-src 'self' 'sha256-{allowed}';" in policy
        assert "unsafe" not in policy
        assert not re.search(r"\son[a-z]+=|\sstyle=", page.text), "a policy with hashes lets no attribute in"

    async def test_keep_people_out_of_caches_and_files_in(self, client: httpx2.AsyncClient) -> None:
        assert (await client.get("/api/v1/flows")).headers["cache-control"] == "no-store"
        assert (await client.get("/docs")).headers["cache-control"] == "no-store"
        static = await client.get("/static-offline-docs/swagger-ui.css")
        assert "cache-control" not in static.headers
        assert static.headers["etag"]

    async def test_leave_a_files_own_policy(self, client: httpx2.AsyncClient) -> None:
        page = ("page.html", b"<script>alert(1)</script>", "text/html")
        stored = (await client.post("/api/v1/files", files={"file": page})).json()
        shown = await client.get(f"/api/v1/files/{stored['id']}/content")
        assert shown.headers["content-security-policy"] == "default-src 'none'; sandbox"
        assert shown.headers["content-disposition"].startswith("attachment")
        assert shown.headers["x-frame-options"] == "DENY"

    async def test_hold_browsers_to_https_where_people_open_https(self, settings: Settings) -> None:
        async with serving(settings, **TEAM) as client:
            answer = await client.get("/health", headers={"host": "headgate.example.org"})
            assert answer.headers["strict-transport-security"] == "max-age=31536000"

    @pytest.mark.parametrize("given", ["a" * 7, "a" * 65, "spaces are bad", "new\tline-here", "ünïcödé-id-12"])
    async def test_take_over_a_request_id_that_is_well_formed(self, client: httpx2.AsyncClient, given: str) -> None:
        kept = await client.get("/health", headers={"x-request-id": "trace-0123.AB_cd"})
        assert kept.headers["x-request-id"] == "trace-0123.AB_cd"
        refused = await client.get("/health", headers=[(b"x-request-id", given.encode())])
        assert refused.headers["x-request-id"] != given
        assert len(refused.headers["x-request-id"]) == 32


class TestSizes:
    async def test_of_an_address_are_bounded(self, client: httpx2.AsyncClient) -> None:
        is_problem(await client.get("/health?" + "x" * 9000), 414, "address_too_long")

    @pytest.mark.parametrize("length", ["9" * 5000, "-1", "1e3", "٣", "1, 1", ""])
    async def test_that_are_no_numbers_are_refused(self, client: httpx2.AsyncClient, length: str) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", length.encode())]
        answer = await client.post("/api/v1/flows", content=b"{}", headers=headers)
        if length:
            is_problem(answer, 413, "body_too_large")
        assert answer.status_code < 500
