"""Every route, called by one tenant with another tenant's ids.

The calls are made from the OpenAPI document. Each is also made with the caller's own ids and must then succeed: a
request that is refused for its shape would prove nothing.
"""

import json
from collections.abc import Callable

import httpx2
import pytest
from fastapi import FastAPI

from headgate.entrypoints.http.lazy_routes import load_routes
from headgate.foundation.database import Database
from tests.integration.isolation.calls import Call, Route, foreign_calls, own_calls, routes_of, undocumented
from tests.integration.isolation.known import ANSWERS_TO_OWN, IGNORES, NO_PRINCIPAL, Unknown
from tests.integration.isolation.rows import Writes, digest, rows_of, telling_values
from tests.integration.isolation.worlds import World, ask, lost_by

Record = Callable[[str, object], None]
_ORDER = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")


@pytest.mark.timeout(600)  # hundreds of calls, after each of which all tables are read
class TestRoutes:
    async def test_show_and_change_nothing_of_another_tenant(
        self, app: FastAPI, database: Database, mine: World, theirs: World, record_property: Record
    ) -> None:
        routes = _routes(app)
        watch = await Watch.over(database, mine, theirs)
        calls, faults = 0, []
        for route in routes:
            for call in foreign_calls(route, mine, theirs):
                calls += 1
                faults += watch.look_at(call, await mine.client.request(**call.arguments()))
            faults += await watch.changes(route)
        faults += await watch.taken_over(mine)
        faults += await lost_by(app, theirs)
        answered = 0
        for route in sorted(routes, key=_what_it_destroys):
            answered += 1
            faults += await self._own(route, mine, watch)
            faults += await watch.changes(route)
        faults += await lost_by(app, theirs)
        assert not faults, "\n".join(faults)
        assert len(await lost_by(app, mine)) == 3, "one's own must go, or nothing is proved of another's"
        assert calls > len(routes)
        owned = sum(bool(route.owned) for route in routes)
        record_property(
            "figures",
            f"{len(routes)} routes ({owned} take an id), {calls} calls with another tenant's ids refused, "
            f"{answered} answered with one's own, {len(watch.secrets)} ids and hashes and 1 marker watched "
            f"({database.dialect})",
        )

    async def _own(self, route: Route, mine: World, watch: "Watch") -> list[str]:
        """The complete request on one's own things: it must be answered, with nothing of the other tenant."""
        expected = ANSWERS_TO_OWN.get((route.method, route.path), set())
        told = []
        for made in own_calls(route, mine):
            await _refresh(mine)
            now = {"revision": mine.revision} if made.of_draft else {}
            call = Call(route, {**made.values, **now})
            answer = await mine.client.request(**call.arguments())
            leaks = watch.leaks(call, answer)
            if leaks or answer.is_success or answer.status_code in expected:
                return leaks
            told.append(f"{answer.status_code} {answer.text[:200]}")
        refused = f"{route} on one's own things is refused, so refusing another's proves nothing: {told}."
        return [f"{refused} Complete the request in known.py or worlds.py, or expect it in ANSWERS_TO_OWN."]

    async def test_are_all_in_the_document_or_known_to_show_nothing(self, app: FastAPI) -> None:
        load_routes(app)
        found = set(undocumented(app.routes))
        strangers = found - NO_PRINCIPAL.keys()
        assert not strangers, (
            f"{strangers} are not in the OpenAPI document, so the matrix does not call them. Put them into it, or say "
            "in NO_PRINCIPAL (tests/integration/isolation/known.py) why they show nothing of anybody."
        )
        assert NO_PRINCIPAL.keys() <= found

    async def test_would_be_caught_leaking(self, app: FastAPI, database: Database, mine: World, theirs: World) -> None:
        """The watch itself: what another tenant's own client is shown must set it off."""
        watch = await Watch.over(database, mine, theirs)
        route = Route("GET", "/api/v1/flows/{flow_id}", {"flow_id": "path"})
        call = Call(route, {"flow_id": theirs.flow_ids[0]}, foreign=("flow_id",))
        faults = watch.look_at(call, await theirs.client.request(**call.arguments()))
        assert len(faults) == 2
        assert "answered 200" in faults[0]
        assert "shows" in faults[1]
        await ask(theirs, "PATCH", f"/flows/{theirs.flow_ids[0]}", json={"name": "Another name"})
        assert "flows" in (await watch.changes(route))[0]


def _routes(app: FastAPI) -> list[Route]:
    try:
        return routes_of(app)
    except Unknown as problem:
        raise AssertionError(f"The matrix {problem}") from problem


def _what_it_destroys(route: Route) -> tuple[int, int, bool]:
    """Reading first, deleting last, and what holds other things after them."""
    return _ORDER.index(route.method), -route.path.count("/"), route.path == "/api/v1/flows/{flow_id}"


async def _refresh(world: World) -> None:
    """The draft's revision, as long as there is a draft."""
    answer = await world.client.get(f"/flows/{world.flow_ids[0]}")
    world.revision = answer.json().get("revision", world.revision)


class Watch:
    """Knows everything that another tenant has, and sees it in answers; sees its rows change."""

    def __init__(self, database: Database, theirs: World, secrets: set[str]) -> None:
        self._database = database
        self._theirs = theirs
        self.secrets = secrets
        self._before: dict[str, str] = {}
        self._writes = Writes(database)

    @classmethod
    async def over(cls, database: Database, mine: World, theirs: World) -> "Watch":
        """Watch over one tenant while another calls."""
        own, other = [await telling_values(database, world.principal) for world in (mine, theirs)]
        assert len(other - own) >= 20
        made = cls(database, theirs, other - own)
        made._before = digest(await rows_of(database, theirs.principal))
        empty = [name for name, rows in made._before.items() if rows.startswith("0 ")]
        assert not empty, f"{empty} hold nothing of the tenant: make something in worlds.py, so that it can leak."
        return made

    def look_at(self, call: Call, answer: httpx2.Response) -> list[str]:
        """What is wrong with the answer to a call with another tenant's ids."""
        faults = [] if _refused(call, answer) else [f"{call}: answered {answer.status_code} {answer.text[:200]}"]
        return faults + self.leaks(call, answer)

    def leaks(self, call: Call, answer: httpx2.Response) -> list[str]:
        """Where an answer shows what is another tenant's. A refusal may name the id that it was asked for."""
        shown = answer.text + json.dumps(dict(answer.headers))
        named = call.sent() if answer.is_client_error or _is_stream(answer) or _ignores(call) else set()
        if call.route.path == "/metrics":  # the operator's, who holds its token: ids of objectives, and no name
            named = self.secrets
        found = {secret for secret in self.secrets - named if secret in shown}
        if self._theirs.marker in shown:
            found.add(self._theirs.marker)
        return [f"{call}: shows {sorted(found)[:5]} in {answer.text[:300]}"] if found else []

    async def taken_over(self, mine: World) -> list[str]:
        """Rows of the caller that name something of the other tenant."""
        rows = await rows_of(self._database, mine.principal)
        return [
            f"{table} of the caller names another tenant's {secret}: {row[:300]}"
            for table, found in rows.items()
            for row in found
            for secret in (*self.secrets, self._theirs.marker)
            if secret in row
        ]

    async def changes(self, route: Route) -> list[str]:
        """The tables in which something of the other tenant changed since the last look."""
        if not await self._writes.were_made():
            return []
        after = digest(await rows_of(self._database, self._theirs.principal))
        changed = [
            f"{route} changed {name} of another tenant: {before} is {after[name]}"
            for name, before in self._before.items()
            if after[name] != before
        ]
        self._before = after
        return changed


def _is_stream(answer: httpx2.Response) -> bool:
    return answer.headers.get("content-type", "").startswith("text/event-stream")


def _ignores(call: Call) -> bool:
    return len(call.foreign) == 1 and (call.route.path, call.foreign[0]) in IGNORES


def _refused(call: Call, answer: httpx2.Response) -> bool:
    """A path of another tenant is not there; a body that names its things is refused; a filter may find nothing."""
    places = {call.route.places[name] for name in call.foreign}
    if "path" in places:
        return answer.status_code == 404
    if _ignores(call):
        return answer.status_code < 500
    if places == {"query"}:
        return answer.status_code in {200, 404, 422}
    return answer.is_client_error or (_is_stream(answer) and "event: error" in answer.text)
