"""Every named thing has the one type of names, and no name that anybody sends is a fault of the server."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, get_args

import httpx2
import pytest
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError

from headgate.entrypoints.http.declarations import declarations
from headgate.entrypoints.http.lazy_routes import load_routes
from headgate.foundation.settings import Settings
from tests.support.people import running, signed_in
from tests.support.team import team

HOSTILE = {
    "NUL": "a\x00b",
    "text that turns around": "invoice\u202egpj.exe",
    "zero-width space": "adm\u200bin",
    "zero-width joiner": "adm\u200din",
    "byte order mark": "\ufeffname",
    "line break": "a\nb",
    "line separator": "a\u2028b",
    "half of a pair": "a\ud800",
    "blanks": "   ",
    "a blank letter": "\u3164",
    "nothing": "",
}
EXPLAINED = {
    (
        "McpServerIn",
        "name",
    ): "lower-case letters, digits, - and _: checked by the service, test_mistakes of MCP servers",
    ("SavedViewIn", "name"): "empty: what the page remembers; else the type of names, test_desk.py",
    ("CredentialGiven", "name"): "empty: its type; made in another product, which has its own rules",
}
"""Names with rules of their own."""


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in an annotation, and those of their fields."""
    waiting, seen = [annotation], set[Any]()
    while waiting:
        one = waiting.pop()
        waiting += get_args(one)
        if isinstance(one, type) and issubclass(one, BaseModel) and one not in seen:
            seen.add(one)
            waiting += [field.annotation for field in one.model_fields.values()]
            yield one


async def _named(settings: Settings) -> dict[tuple[str, str], Any]:
    """Every field `name` of every request body, with its type."""
    async with running(signed_in(settings)) as app:
        load_routes(app)
        found: dict[tuple[str, str], Any] = {}
        for route, _ in declarations(app):
            written = route.original_route
            assert isinstance(written, APIRoute)
            for parameter in written.dependant.body_params:
                for model in _models(parameter.field_info.annotation):
                    for name, field in model.model_fields.items():
                        if name == "name":
                            found[model.__name__, name] = Annotated[(field.annotation, field, *field.metadata)]
        return found


class TestEveryName:
    async def test_in_a_request_refuses_what_cannot_be_seen(self, settings: Settings) -> None:
        named = await _named(settings)
        assert len(named.keys() - EXPLAINED.keys()) >= 8, sorted(named)
        faults = []
        for where in sorted(named.keys() - EXPLAINED.keys()):
            type_ = TypeAdapter(named[where])
            for what, name in HOSTILE.items():
                try:
                    type_.validate_python(name)
                except ValidationError:
                    continue
                faults.append(f"{where} takes {what}")
        assert not faults, "\n".join(faults)

    async def test_keeps_names_in_any_script(self, settings: Settings) -> None:
        for where, type_ in (await _named(settings)).items():
            for name in ("Åsa Öberg", "日本語", "हिन्दी", "Crème brûlée 🍮", "a-b_c (2)"):
                if where not in EXPLAINED:
                    assert TypeAdapter(type_).validate_python(f" {name} ") in {name, f" {name} "}

    @pytest.mark.parametrize("what", sorted(HOSTILE))
    async def test_is_answered_in_words(self, settings: Settings, what: str) -> None:
        name = HOSTILE[what]
        async with team(settings) as us:

            async def asked(who: str, path: str, **members: Any) -> httpx2.Response:
                content = json.dumps({"name": name, **members})
                headers = {"content-type": "application/json"}
                return await us.ask(who, "POST", path, content=content, headers=headers)

            for answer in (
                await asked("editor", "/flows"),
                await asked("owner", "/spaces"),
                await asked("owner", "/api-keys"),
                await asked("editor", "/assistants", prompt="x"),
                await asked("admin", "/users", email="new@example.org"),
                await asked("owner", "/mcp-servers", url="https://mcp.example.org"),
                await asked("owner", "/connections", kind="webhook_secret", secrets={"secret": "x"}),
            ):
                assert answer.status_code in {400, 422}, (answer.request.url.path, answer.status_code, answer.text)
