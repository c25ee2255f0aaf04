"""What outsiders are told of the server's state and figures."""

from typing import Any

import httpx2
import pytest

from headgate.foundation.settings import ServerSettings, Settings
from tests.integration.http.conftest import serving
from tests.integration.http.test_api import is_problem

TOKEN = "0123456789abcdef-token"
SIGN_IN: dict[str, Any] = {"auto_login": False}
WITH_TOKEN: dict[str, Any] = {**SIGN_IN, "metrics_token": TOKEN}
BEARER = {"authorization": f"Bearer {TOKEN}"}
WRONG = [{}, {"authorization": TOKEN}, {"authorization": f"Basic {TOKEN}"}, {"authorization": f"Bearer {TOKEN[:-1]}"}]


class TestMetrics:
    async def test_are_shown_with_auto_login(self, client: httpx2.AsyncClient) -> None:
        assert "headgate_" in (await client.get("/metrics")).text

    async def test_are_shut_where_people_sign_in_and_no_token_is_set(self, settings: Settings) -> None:
        async with serving(settings, **SIGN_IN) as client:
            document = is_problem(await client.get("/metrics", headers=BEARER), 403, "figures_closed")
            assert "HEADGATE_SERVER__METRICS_TOKEN" in document["remedy"]

    @pytest.mark.parametrize("server", [WITH_TOKEN, {"metrics_token": TOKEN}], ids=["sign-in", "auto-login"])
    async def test_need_the_token_where_one_is_set(self, settings: Settings, server: dict[str, Any]) -> None:
        async with serving(settings, **server) as client:
            for headers in WRONG:
                answer = await client.get("/metrics", headers=headers)
                is_problem(answer, 401, "metrics_token_wrong")
                assert answer.headers["www-authenticate"] == "Bearer"
                assert TOKEN[:-1] not in answer.text
            assert "headgate_" in (await client.get("/metrics", headers=BEARER)).text

    def test_take_no_short_token(self) -> None:
        with pytest.raises(ValueError, match="at least 16"):
            ServerSettings(metrics_token="short")


class TestReadiness:
    async def test_tells_outsiders_the_status_alone(self, settings: Settings) -> None:
        async with serving(settings, **WITH_TOKEN) as client:
            for headers in WRONG:
                assert (await client.get("/health/ready", headers=headers)).json() == {"status": "ok"}

    async def test_tells_who_has_the_token_all_of_it(self, settings: Settings) -> None:
        async with serving(settings, **WITH_TOKEN) as client:
            found = (await client.get("/health/ready", headers=BEARER)).json()
            assert {"database", "engine"} < {part["name"] for part in found["parts"]}
