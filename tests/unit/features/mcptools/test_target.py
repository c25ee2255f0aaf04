"""Addresses, commands and secrets of servers."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from headgate.features.mcptools.errors import BadMcpServer
from headgate.features.mcptools.target import Target, checked_target, same_place, seal, unseal
from headgate.features.secrets.reads import Source
from headgate.foundation.crypto import SecretBox
from headgate.foundation.errors import Forbidden, NotFound
from headgate.foundation.keyring import new_ring
from headgate.foundation.secret_values import REDACTED
from headgate.foundation.settings import Settings
from headgate.graph.secret_reference import SecretReference


class Kept:
    """Variables in a dictionary."""

    async def secret(self, name: str, *, url: str | None = None) -> SecretStr:
        if name != "WEATHER_TOKEN":
            raise NotFound("There is no such variable.")
        if url not in {None, "https://a.example/mcp"}:
            raise Forbidden("It is kept for other servers.")
        return SecretStr("kept-secret-value")

    async def note(self, name: str, source: Source) -> None:
        assert (name, source) == ("mcp_server:w", "space")


class TestTarget:
    async def test_fills_in_the_secrets_that_it_refers_to_and_no_text(self) -> None:
        text: dict[str, str | SecretReference] = {
            "c": "Bearer WEATHER_TOKEN",
            "d": "WEATHER_TOKEN",
            "e": '{"secret": "WEATHER_TOKEN"}',
        }
        kept: dict[str, str | SecretReference] = {
            "a": SecretReference("WEATHER_TOKEN"),
            "b": SecretReference("WEATHER_TOKEN", "Bearer"),
        }
        found = await Target("w", "http", "https://a.example/mcp", secrets=text | kept).filled(Kept())
        assert found.secrets == text | {"a": "kept-secret-value", "b": "Bearer kept-secret-value"}

    async def test_sends_nothing_in_place_of_a_secret_that_is_not_there(self) -> None:
        with pytest.raises(NotFound):
            await Target("w", "http", secrets={"a": SecretReference("OTHER")}).filled(Kept())

    def test_is_the_same_after_it_was_stored(self, tmp_path: Path) -> None:
        box = SecretBox(new_ring(Settings(data_dir=tmp_path)))
        secrets: dict[str, str | SecretReference] = {
            "a": "text",
            "b": SecretReference("WEATHER_TOKEN", "Bearer"),
            "c": '{"secret": "X"}',
        }
        assert unseal(box, seal(box, secrets)) == secrets

    async def test_sends_no_variable_to_a_server_that_it_is_not_for(self) -> None:
        with pytest.raises(Forbidden):
            await Target("w", "http", "https://b.example", secrets={"a": SecretReference("WEATHER_TOKEN")}).filled(
                Kept()
            )

    def test_takes_its_secrets_out_of_a_text(self) -> None:
        target = Target("w", "http", secrets={"authorization": "Bearer opaque-value", "x": "ab"})
        assert target.scrubbed("you sent opaque-value, about") == f"you sent {REDACTED}, about"

    def test_does_not_show_them_when_printed(self) -> None:
        assert "opaque" not in repr(Target("w", "http", secrets={"a": "opaque-value"}))


class TestSamePlace:
    @pytest.mark.parametrize(
        ("one", "other", "same"),
        [
            ("https://a.example/mcp", "https://a.example/v2?x=1", True),
            ("https://a.example/mcp", "http://a.example/mcp", False),
            ("https://a.example/mcp", "https://a.example:8443/mcp", False),
            ("https://a.example/mcp", "https://b.example/mcp", False),
        ],
    )
    def test_is_the_same_origin(self, one: str, other: str, same: bool) -> None:
        assert same_place(Target("w", "http", url=one), Target("w", "http", url=other)) is same

    def test_is_the_same_program(self) -> None:
        one, other = Target("w", "stdio", command=("a", "b")), Target("w", "stdio", command=("a", "c"))
        assert same_place(one, one)
        assert not same_place(one, other)
        assert not same_place(one, Target("w", "http", url="https://a.example"))


class TestCheckedTarget:
    @pytest.mark.parametrize("name", ["LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH", "NODE_OPTIONS", "PATH", "A=B", ""])
    def test_refuses_what_makes_another_program_of_it(self, name: str) -> None:
        with pytest.raises(BadMcpServer):
            checked_target("w", "stdio", url="", command=["x"], secrets={name: SecretStr("v")})

    @pytest.mark.parametrize("command", [[], [""], ["x"] * 100, ["x", "y" * 5000]])
    def test_refuses_a_command_that_is_none(self, command: list[str]) -> None:
        with pytest.raises(BadMcpServer):
            checked_target("w", "stdio", url="", command=command, secrets={})

    def test_bounds_the_headers(self) -> None:
        many: dict[str, Any] = {f"h{number}": SecretStr("v") for number in range(70)}
        with pytest.raises(BadMcpServer):
            checked_target("w", "http", url="https://a.example", command=[], secrets=many)
