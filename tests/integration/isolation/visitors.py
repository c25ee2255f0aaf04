"""A tenant with the same things in two spaces, and the people who ask about one of them."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx2
from fastapi import FastAPI

from headgate.features.access.permissions import Permission, Role
from headgate.features.access.principal import Access, Actor, Principal
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.integration.isolation.askers import ALLOWED_AND_REFUSED, Answer, Asker, Case, Spaces, answer
from tests.integration.isolation.calls import Call, own_calls
from tests.integration.isolation.known import ANSWERS_TO_OWN
from tests.integration.isolation.rows import telling_values
from tests.integration.isolation.worlds import World, client_of, make_directory, make_space_world, make_tenant_things
from tests.support.patience import PATIENCE_SECONDS
from tests.support.tenants import add_member, add_person, add_space, add_tenant

HERE, THERE = "marker-of-here-Qm4tzd", "marker-of-there-Lw9kfy"


@dataclass
class Tenant:
    """A tenant with the same things in two spaces."""

    app: FastAPI
    database: Database
    here: World
    there: World
    secrets: set[str]
    """Ids and hashes of what is here, which nobody who does not see it may be shown."""

    @property
    def spaces(self) -> Spaces:
        return Spaces(self.here.principal.space_id, self.there.principal.space_id)


@asynccontextmanager
async def two_spaces(app: FastAPI, database: Database) -> AsyncIterator[Tenant]:
    """A tenant whose dweller owns one of two spaces with the same things in both."""
    them = await add_tenant(database, "The tenant")
    there = await make_space_world(app, database, them, THERE)
    await make_tenant_things(app, there, database)
    before = await telling_values(database, them)
    space_id, user_id = new_id(), new_id()
    access = Access(roles={space_id: Role.OWNER})
    dweller = replace(them, user_id=user_id, space_id=space_id, access=access, actor=Actor("user", "dweller"))
    await add_person(database, dweller, name="dweller")
    await add_space(database, dweller, name="Another room")
    here = await make_space_world(app, database, dweller, HERE)
    secrets = await telling_values(database, dweller) - before - {user_id}
    await make_directory(here, database)
    yield Tenant(app, database, here, there, secrets)
    await here.close()
    await there.close()


class Visitor:
    """One asker in the tenant: makes requests and says what is wrong with the answers."""

    def __init__(self, tenant: Tenant, asker: Asker) -> None:
        self._tenant, self._asker = tenant, asker
        self._person = Principal(
            tenant_id=tenant.here.principal.tenant_id,
            user_id=new_id(),
            space_id=asker.home(tenant.spaces),
            access=Access(),
            actor=Actor("user", "somebody"),
        )

    @classmethod
    async def arrive(cls, tenant: Tenant, asker: Asker) -> "Visitor":
        """Become a person of the tenant, with their rows."""
        made = cls(tenant, asker)
        access = asker.access(tenant.spaces, frozenset())
        await add_person(tenant.database, replace(made._person, access=access), name=f"somebody-{made._person.user_id}")
        for space_id, role in access.roles.items():
            await add_member(tenant.database, made._person, space_id, role)
        return made

    def principal(self, *needed: Permission) -> Principal:
        """The asker, where their key has to do with these permissions."""
        return replace(self._person, access=self._asker.access(self._tenant.spaces, frozenset(needed)))

    def client(self, *needed: Permission) -> httpx2.AsyncClient:
        """A client that acts as them."""
        return client_of(self._tenant.app, self.principal(*needed))

    def expected(self, case: Case) -> tuple[Answer, Permission]:
        """What the table says that they are told, and the permission that a refusal names."""
        return answer(case, self._access(case), self._person.space_id, self._tenant.spaces)

    def _access(self, case: Case) -> Access:
        return self.principal(*case.permissions).access

    async def ask(self, case: Case, call: Call) -> httpx2.Response:
        """The answer to a request."""
        async with asyncio.timeout(PATIENCE_SECONDS), self.client(*case.permissions) as client:
            return _of_its_item(await client.request(**call.arguments()))

    async def turned_away(self, case: Case) -> tuple[int, list[str]]:
        """Make the request about each thing here; how many there were, and what was wrong with the answers."""
        told, permission = self.expected(case)
        count, faults = 0, []
        for call in calls_of(case, self._tenant.here):
            count += 1
            try:
                found = await self.ask(case, call)
            except TimeoutError:
                faults.append(f"{self._asker}: {case} is answered without end")
                continue
            wrong = self._wrong(told, permission, found)
            if told in {Answer.HIDDEN, Answer.THEIRS, Answer.NOTHING} and not wrong:
                wrong = await self._tells_apart(case, call, found)
            if told is not Answer.REFUSED:
                wrong = wrong or self.leak(call, found)
            if wrong:
                faults.append(f"{self._asker}: {case} is to give {told.value} ({permission}), but {wrong}")
        return count, faults

    def _wrong(self, told: Answer, permission: Permission, found: httpx2.Response) -> str:
        shown = f"gave {found.status_code} {found.text[:300]}"
        if told is Answer.REFUSED:
            right = found.status_code == 403 and _names(found, permission)
        elif told in {Answer.HIDDEN, Answer.THEIRS}:
            right = found.status_code == 404
        elif told is Answer.NOWHERE:
            right = found.status_code in {403, 404}
        else:
            right = found.status_code in {200, 404, 422}
        return "" if right else shown

    async def _tells_apart(self, case: Case, call: Call, found: httpx2.Response) -> str:
        """How the answer differs from that about ids that never were."""
        asked = {name: call.values[name] for name in call.route.owned if call.values[name] is not None}
        unborn = {name: _unborn(value) for name, value in asked.items()}
        never = await self.ask(case, replace(call, values={**call.values, **unborn}))
        real, invented = _nameless(found, asked), _nameless(never, unborn)
        return "" if real == invented else f"tells {real} from {invented}"

    def leak(self, call: Call, found: httpx2.Response) -> str:
        """What an answer shows of the space, but for the ids that it was asked about."""
        text = found.text + str(dict(found.headers))
        named = call.sent() if found.is_client_error else set()
        shown = {secret for secret in (*(self._tenant.secrets - named), HERE) if secret in text}
        return f"shows {sorted(shown)[:5]} in {found.text[:300]}" if shown else ""

    async def let_in(self, case: Case) -> list[str]:
        """Make the request about the things here, until one is answered."""
        expected = {*ANSWERS_TO_OWN.get(case.name, ()), ALLOWED_AND_REFUSED.get(case.name)}
        told, sees = [], self._access(case).sees(self._tenant.spaces.here)
        for made in calls_of(case, self._tenant.here):
            draft = {"revision": await revision_of(self._tenant.here)} if made.of_draft else {}
            call = replace(made, values={**made.values, **draft})
            found = await self.ask(case, call)
            leak = "" if sees else self.leak(call, found)
            if leak:
                return [f"{self._asker}: {case} {leak}"]
            refused = found.status_code == 403 and "permission" in found.text
            if not refused and (found.is_success or found.status_code in expected):
                return []
            told.append(f"{found.status_code} {found.text[:200]}")
        return [f"{self._asker}: {case} is to be allowed ({case.needs}), but gave {told}"]


def _of_its_item(found: httpx2.Response) -> httpx2.Response:
    """The answer for the one thing that was named, of a route that answers for each of several."""
    items = found.json().get("items") if found.status_code == 200 and found.text.startswith('{"items":[{') else None
    problem = items[0].get("problem") if items else None
    if not isinstance(problem, dict):
        return found
    return httpx2.Response(problem["status"], json=problem, headers={"content-type": "application/problem+json"})


def calls_of(case: Case, world: World) -> Iterator[Call]:
    """The requests of a case, one for each thing of the world."""
    for call in own_calls(case.route, world):
        yield replace(call, values={**call.values, **case.values})
        if case.route.owned and set(case.route.owned) <= case.values.keys():
            return


async def revision_of(world: World) -> int:
    """The revision of the draft that saving it must name."""
    found = await world.client.get(f"/flows/{world.flow_ids[0]}")
    return int(found.json().get("revision", world.revision))


def _names(refusal: httpx2.Response, permission: Permission) -> bool:
    """Whether it says which permission is missing; under `/v1` refusals have OpenAI's shape, with no member for it."""
    said = refusal.json()
    return said.get("permission") == permission or f"the permission '{permission}'" in said.get("error", {}).get(
        "message", ""
    )


def _unborn(value: Any) -> Any:
    if isinstance(value, list):
        return [_unborn(item) for item in value]
    return {**value, _id_member(value): new_id()} if isinstance(value, dict) else new_id()


def _id_member(value: Mapping[str, Any]) -> str:
    return next(name for name in value if name.endswith("_id"))


def _nameless(found: httpx2.Response, ids: Mapping[str, Any]) -> tuple[int, str, dict[str, str]]:
    """An answer without the ids that it was asked about, and without what every answer has of its own."""
    text = found.text
    for name, asked in ids.items():
        for value in asked if isinstance(asked, list) else [asked]:
            text = text.replace(value[_id_member(value)] if isinstance(value, dict) else value, f"<{name}>")
    return found.status_code, text, {name: value for name, value in found.headers.items() if name != "x-request-id"}
