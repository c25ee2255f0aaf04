"""Every route that changes something leaves an entry in the audit log; one that is refused leaves none.

The calls are made from the OpenAPI document, on a tenant that has something of everything.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import and_, func, not_, select

from headgate.entrypoints.http.app import create_app
from headgate.features.access.principal import Access, Actor
from headgate.features.audit import service
from headgate.features.audit.tables import AuditEvent
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from headgate.foundation.settings import EngineSettings, LimitSettings, Settings
from tests.integration.isolation.calls import Call, Route, own_calls, routes_of
from tests.integration.isolation.rows import rows_of
from tests.integration.isolation.worlds import World, client_of, make_world
from tests.support.tenants import add_tenant

CHANGING = ("POST", "PUT", "PATCH", "DELETE")
QUIET = {
    "POST /api/v1/flows/{flow_id}/dry-run": "it looks ahead at a run",
    "POST /api/v1/knowledge-bases/{base_id}/search": "it reads; the query is a body because it may be long",
    "POST /api/v1/knowledge-bases/{base_id}/preview": "it divides a file and stores nothing",
    "POST /api/v1/knowledge-bases/{base_id}/questions/proposals": "what a model proposes is returned, not stored",
    "PUT /api/v1/chat/conversations/{conversation_id}/messages/{run_id}/feedback": (
        "the run is of no conversation here; features/runs/chat/test_feedback.py looks at its entry"
    ),
    "POST /api/v1/knowledge-bases/verify": "it reads files and compares",
    "POST /api/v1/flows/{flow_id}/components/check": "no flow here carries code; tests/integration/features/flows does",
    "POST /api/v1/flows/import/report": "it reads a file and keeps nothing",
    "POST /api/v1/flows/{flow_id}/inline": "the draft is unsaved here; features/runs/test_composition.py has its entry",
    "POST /api/v1/triggers/{trigger_id}/dry-run": "it reads what the next poll would start and keeps nothing",
    "POST /api/v1/triggers/preview": "it says when a schedule would start and keeps nothing",
    "POST /api/v1/flows/{flow_id}/restore": "nothing is deleted here; features/runs/test_flow_list.py does",
    "POST /v1/chat/completions": "its model is the flow's id and not its own; test_completions.py looks at its runs",
    "POST /api/v1/flow-runs/{run_id}/rerun-plan": "it looks ahead at a rerun",
    "POST /api/v1/mcp-servers/{server}/test": "it asks the server and keeps nothing",
    "POST /api/v1/mcp-servers/{server}/authorize": "no provider answers here; test_authorizing.py has one",
    "POST /api/v1/connections/{connection}/authorize": "no provider answers here; test_oauth.py has one",
    "POST /api/v1/connections/{connection}/authorize/poll": "no provider answers here; test_oauth.py has one",
    "POST /api/v1/connections/suggestions": "it reads a description and keeps nothing",
    "PUT /api/v1/connections/{connection}/api": "the connection here has no API; features/connections/test_apis.py",
    "POST /api/v1/connections/authorizations": "no provider answers here; test_oauth.py has one",
    "POST /api/v1/codev/instances/{instance}/test": "it asks the server and keeps nothing",
    "POST /api/v1/codev/sessions": "no model can be asked here; tested where there is one",
    "POST /api/v1/codev/sessions/stream": "no model can be asked here; tested where there is one",
    "POST /api/v1/codev/sessions/{session_id}/retry": "no model can be asked here; tested where there is one",
    "POST /api/v1/codev/sessions/{session_id}/rollback": "no session wrote anything here; tested where they do",
    "POST /api/v1/approvals/{approval_id}/decision": "the run is over; features/runs/approvals looks at its entry",
    "POST /api/v1/approvals/decisions": "the run is over; it decides each as the route of one approval does",
    "POST /api/v1/approvals/{approval_id}/links": "the run is over; features/runs/approvals looks at its entry",
    "DELETE /api/v1/approvals/{approval_id}/links/{link_id}": "there is no link here; features/runs/approvals has some",
    "POST /api/v1/reviews/read": "it changes nothing",
    "POST /api/v1/reviews/decide": "nobody has the link here; features/runs/approvals looks at its entry",
    "POST /api/v1/agentic/page-metrics": "it counts what happened in a window, in memory",
    "POST /api/v1/agentic/components/proposals": "it checks code and keeps nothing",
    "POST /api/v1/agentic/turns/{turn_id}/stop": "it ends an answer, of which nothing is stored yet",
    "POST /mcp/flows": "it runs flows, whose runs are evidence; tests/integration/mcp",
    "POST /mcp": "it is asked for nothing here; tests/integration/mcp looks at the entries of its tools",
    "POST /api/v1/sign-in": "nobody has the password here; tested where people sign in",
    "POST /api/v1/sign-out": "these calls come without a session; tested where people sign in",
    "POST /api/v1/me/password": "nobody has the password here; tested where people sign in",
    "POST /api/v1/me/second-factor/totp": "these calls come without a session; tested where people sign in",
    "POST /api/v1/me/second-factor/totp/confirm": "these calls come without a session; tested where people sign in",
    "DELETE /api/v1/me/second-factor/totp": "these calls come without a session; tested where people sign in",
    "POST /api/v1/me/second-factor/recovery-codes": "these calls come without a session; tested where people sign in",
    "POST /api/v1/me/confirm": "these calls come without a session; tested where people sign in",
    "POST /api/v1/me/passkeys": "these calls come without a session; tested where people sign in",
    "POST /api/v1/me/passkeys/options": "these calls come without a session; tested where people sign in",
    "PATCH /api/v1/me/passkeys/{passkey_id}": "these calls come without a session; tested where people sign in",
    "DELETE /api/v1/me/passkeys/{passkey_id}": "these calls come without a session; tested where people sign in",
    "POST /api/v1/me/confirm/passkey": "these calls come without a session; tested where people sign in",
    "POST /api/v1/me/confirm/passkey/options": "these calls come without a session; tested where people sign in",
    "POST /api/v1/sign-in/passkey": "these calls come without a session; tested where people sign in",
    "POST /api/v1/sign-in/passkey/options": "these calls come without a session; tested where people sign in",
    "POST /api/v1/sign-in/oidc/back-channel-logout": "there is no provider here; test_sign_out.py has one",
    "POST /api/v1/keyring/{purpose}/rotate": "for the first organisation alone; features/keyring looks at its entries",
    "POST /api/v1/keyring/keys/{key}/retire": "for the first organisation alone; features/keyring looks at its entry",
    "POST /api/v1/keyring/keys/{key}/revoke": "for the first organisation alone; features/keyring looks at its entry",
    "POST /api/v1/flow-runs/{run_id}/breakpoints/continue": "no run is stopped here; test_breakpoints looks at it",
    "PUT /api/v1/flow-runs/{run_id}/priority": "runs of the world are over, or of steps; test_queue looks at it",
    "PUT /api/v1/processes/{process_id}/drain": "for the first organisation alone; features/processes looks at it",
    "DELETE /api/v1/processes/{process_id}/drain": "for the first organisation alone; features/processes looks at it",
    "POST /api/v1/packs": "for the first organisation alone; features/packs looks at its entries",
    "POST /api/v1/packs/signers": "for the first organisation alone; features/packs looks at its entries",
    "DELETE /api/v1/packs/signers/{key}": "for the first organisation alone; features/packs looks at its entries",
    "PUT /api/v1/packs/{pack}": "for the first organisation alone; features/packs looks at its entries",
    "DELETE /api/v1/packs/{pack}": "for the first organisation alone; features/packs looks at its entries",
    "POST /api/v1/packs/preview": "it checks an archive and stores nothing",
    "POST /api/v1/packs/flows/{flow_id}/update": "no flow here uses a pack; features/packs updates one",
    "POST /api/v1/local-models/{name}/fetch": "no such model is here; test_fetching_local.py fetches one",
    "DELETE /api/v1/local-models/{name}/fetch": "nothing is fetched here; test_fetching_local.py stops one",
    "POST /api/v1/attention/actions": "no such item is listed; test_desk.py changes and assigns some",
    "POST /api/v1/password-links/look": "it looks whether a link is good",
    "POST /api/v1/password-links/use": "nobody has a link here; tested where people sign in",
}
"""Routes whose calls change nothing although their method says so, and why."""
MEANT: dict[str, Callable[[World], dict[str, Any]]] = {
    "POST /api/v1/flows/{flow_id}/publish": lambda world: {"flow_id": world.unpublished_id},
    "PUT /api/v1/flows/{flow_id}/favourite": lambda world: {"flow_id": world.unpublished_id},
    "PUT /api/v1/flows/{flow_id}/owner": lambda world: {"flow_id": world.unpublished_id},
    "POST /api/v1/flows/{flow_id}/tests/run": lambda world: {"flow_id": world.flow_ids[1]},
    "PATCH /api/v1/flows/{flow_id}/draft": lambda world: {"definition": {**world.definition, "name": "Other"}},
    "POST /api/v1/users/{user_id}/api-keys": lambda world: {"user_id": world.service_account_id},
    "PUT /api/v1/spaces/{space_id}/members/{user_id}": lambda world: {"space_id": world.space_ids[0], "role": "editor"},
}
"""Values with which a call changes something that it would otherwise find as it should be."""
ADDED: dict[str, dict[str, Any]] = {
    "PATCH /api/v1/users/{user_id}": {"name": "Somebody"},
    "PATCH /api/v1/flows/{flow_id}/comments/{comment_id}": {"resolved": True},
}
"""Members of the body that the matrix leaves out, because nothing needs them."""
AT_WORK = (
    *("flow_runs", "flow_step_results", "flow_step_attempts", "flow_run_events", "files"),
    *("webhook_deliveries", "webhook_delivery_attempts"),
    *("flow_test_results", "flow_test_trials", "codev_sessions", "codev_events"),
    *("knowledge_documents", "knowledge_passages", "knowledge_vectors", "knowledge_vector_groups"),
    *("knowledge_metadata", "knowledge_sources", "knowledge_source_items"),
)
"""Tables that runs, sessions and the indexing of documents of earlier calls go on changing."""
LOG = ("audit_events", "audit_heads")


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    small = LimitSettings(max_inline_text_bytes=256, max_inline_preview_bytes=64)
    engine = EngineSettings(recover_on_start=False)
    made = create_app(settings.model_copy(update={"limits": small, "engine": engine}))
    async with made.router.lifespan_context(made):
        yield made


@pytest.fixture
async def world(app: FastAPI, database: Database) -> AsyncIterator[World]:
    found = await make_world(app, database, await add_tenant(database), "marker")
    yield found
    await found.close()


@dataclass
class Outcome:
    """What the calls of one route came to."""

    faults: list[str]
    written: int = 0
    refused: int = 0


@pytest.mark.timeout(600)  # hundreds of calls, after each of which all tables are read
class TestEveryRoute:
    async def test_that_changes_something_leaves_an_entry(
        self, app: FastAPI, database: Database, world: World, record_property: Callable[[str, object], None]
    ) -> None:
        routes = [route for route in routes_of(app) if route.method in CHANGING]
        assert QUIET.keys() | MEANT.keys() | ADDED.keys() <= {str(route) for route in routes}
        found = [await call(route, database, world) for route in sorted(routes, key=order)]
        faults = [fault for one in found for fault in one.faults]
        assert not faults, "\n".join(faults)
        assert (await service.verify_chain(database, world.principal)).good
        record_property(
            "figures",
            f"{len(routes)} routes whose method changes something: {sum(one.written > 0 for one in found)} left an "
            f"entry, {sum(one.refused for one in found)} refused calls left none, {len(QUIET)} change nothing "
            f"({database.dialect})",
        )

    async def test_that_refuses_leaves_none(self, app: FastAPI, database: Database, world: World) -> None:
        stranger = replace(world.principal, user_id=new_id(), access=Access(), actor=Actor("user", "Stranger"))
        client, refused = client_of(app, stranger), 0
        for route in routes_of(app):
            if route.method in CHANGING:
                made = next(own_calls(route, world))
                before = await entries_of(database, world)
                answer = await client.request(**made.arguments())
                left = await entries_of(database, world) - before
                assert answer.is_success or not left, f"{route}: answered {answer.status_code} and left {left} entries"
                refused += answer.status_code in {403, 404}
        await client.aclose()
        assert refused >= 20


async def call(route: Route, database: Database, world: World) -> Outcome:
    """Call a route on each of the tenant's things until an entry is left. An entry is left when a row is changed."""
    found = Outcome([])
    for made in own_calls(route, world):
        request = await completed(made, world)
        before, entries = await rows_of(database, world.principal), await entries_of(database, world)
        answer = await world.client.request(**request)
        after, of_request = await rows_of(database, world.principal), await entries_of(database, world) - entries
        left = len(after["audit_events"]) - len(before["audit_events"])
        changed = [name for name in before if before[name] != after[name] and name not in (*AT_WORK, *LOG)]
        if changed and not left:
            found.faults.append(f"{route}: answered {answer.status_code}, changed {changed} and left no entry")
        if of_request and not changed and not answer.is_success:
            found.faults.append(f"{route}: answered {answer.status_code} and left {of_request} entries")
        found.refused += not answer.is_success and not of_request
        if left:
            found.written += 1
            return found
    if str(route) not in QUIET:
        found.faults.append(f"{route}: left no entry, the last answer was {answer.status_code} {answer.text[:200]}")
    return found


async def entries_of(database: Database, world: World) -> int:
    """The number of audit entries of the tenant that requests left: jobs in the background leave theirs at any time."""
    of_jobs = and_(AuditEvent.actor_kind == "system", AuditEvent.address.is_(None))
    query = select(func.count()).where(AuditEvent.tenant_id == world.principal.tenant_id, not_(of_jobs))
    async with database.reading() as session:
        return (await session.execute(query)).scalar_one()


async def completed(made: Call, world: World) -> dict[str, Any]:
    """A call as httpx takes it, such that it has something to change."""
    name = str(made.route)
    draft = (await world.client.get(f"/flows/{world.flow_ids[0]}")).json()
    now = {"revision": draft.get("revision", 0)} if made.of_draft else {}
    meant = MEANT[name](world) if name in MEANT else {}
    request = Call(made.route, {**made.values, **now, **meant}).arguments()
    return {**request, "json": {**request.get("json", {}), **ADDED[name]}} if name in ADDED else request


def order(route: Route) -> tuple[int, bool, int, bool]:
    """Deleting last, and what holds other things after them; a run that is cancelled can no longer be changed."""
    depth, holds_others = route.path.count("/"), route.path == "/api/v1/flows/{flow_id}"
    ends = route.path.endswith("/cancel")
    return CHANGING.index("PUT" if ends else route.method), ends, -depth, holds_others
