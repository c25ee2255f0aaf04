"""The whole API, asked by everybody with requests made from its own document: no fault, and answers as documented.

`HEADGATE_FUZZ=200` makes two hundred requests for each operation in place of one. `make test` sends them as a few of
the askers, `make test-faults` as all: the matrix of isolation says who may do what.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from headgate.features.access.permissions import Role
from headgate.features.access.principal import LOCAL
from headgate.foundation.database import Database
from headgate.foundation.settings import EngineSettings, LimitSettings, ServerSettings, Settings
from tests.integration.http.asking import Fuzz, listening
from tests.integration.isolation.worlds import make_world
from tests.support.people import add_key, add_session, add_user, bearer, cookie, running, signed_in
from tests.support.properties import THOROUGH

Record = Callable[[str, object], None]
SMALL: dict[str, Any] = {
    "limits": LimitSettings(max_inline_text_bytes=256, max_inline_preview_bytes=64),
    "engine": EngineSettings(recover_on_start=False),
    "server": ServerSettings(max_loop_lag_seconds=600),  # its load must not make the server unready
}
"""As the worlds of the isolation tests want it."""
EMPTY: Mapping[str, str] = {}
FEW_ASKERS = ("nobody", "viewer", "owner")


async def askers_of(database: Database, space_id: str) -> dict[str, Mapping[str, str]]:
    """Each role in a space, an admin, somebody who is in no space, and nobody: by key, an owner by session too."""
    found: dict[str, Mapping[str, str]] = {"nobody": EMPTY}
    people: dict[str, dict[str, Any]] = {role.value: {"roles": {space_id: role}} for role in Role}
    for name, more in (people | {"admin": {"admin": True}, "stranger": {}}).items():
        person = await add_user(database, f"{name}@example.org", **more)
        found[name] = bearer(await add_key(database, person))
        if name == "owner":
            found["owner in a browser"] = cookie(await add_session(database, person))
    return found


@pytest.mark.timeout(0)
# The connection pool of the server, in another thread, draws random numbers while a strategy draws a case.
@pytest.mark.filterwarnings("ignore:Do not use the .random. module inside strategies")
class TestApi:
    async def test_never_fails_and_answers_as_it_says(
        self, settings: Settings, database: Database, record_property: Record
    ) -> None:
        async with running(signed_in(settings, **SMALL)) as app, listening(app) as address:
            world = await make_world(app, database, LOCAL, "marker-of-the-fuzz")
            askers = await askers_of(database, LOCAL.space_id)
            if not THOROUGH:
                askers = {name: askers[name] for name in FEW_ASKERS}
            document = app.openapi()
            asked = await asyncio.to_thread(Fuzz(address, document, askers, world).run)
            await world.close()
        told = "\n\n".join(f"{where}\n    {why}" for where, why in sorted(asked.faults.items()))
        assert not asked.faults, told
        operations = sum(len(one) for one in document["paths"].values())
        for name in askers:
            assert asked.answers[f"{name} 2xx"] >= (1 if name == "nobody" else operations // 10), asked.answers
        refused = sum(count for name, count in asked.answers.items() if name.endswith("4xx"))
        record_property(
            "figures",
            f"{operations} operations, {asked.cases} made-up requests, each sent by {len(askers)} askers: "
            f"{asked.requests} answers, {refused} of them refusals, no 5xx ({database.dialect})",
        )
