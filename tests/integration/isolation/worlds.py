"""A tenant with something of everything, under the same names as every other tenant's.

What can be made over the API is made over the API; rows that only some outside thing makes (a delivery, a server's
tools) are put in by hand. Every text holds the tenant's marker, so that whatever leaks can be seen.
"""

import asyncio
import json
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from secrets import token_bytes
from typing import Any

import httpx2
from fastapi import FastAPI
from pydantic import SecretStr
from sqlalchemy import func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.accounts.directory.repository import hold_directory
from headgate.features.accounts.directory.tables import (
    Directory,
    DirectoryGroup,
    DirectoryGroupMember,
    DirectoryGroupRole,
    DirectoryUser,
)
from headgate.features.accounts.saved_views.tables import SavedViewRow
from headgate.features.accounts.tables import (
    ApiKey,
    OneTimeLink,
    Passkey,
    RecoveryCode,
    Tenant,
    TotpAuthenticator,
    User,
    UserSession,
)
from headgate.features.alerts.tables import AlertEvaluationRow, AlertNoticeRow, AlertRow, AlertRuleRow
from headgate.features.assistants.tables import AssistantRow
from headgate.features.attention.tables import AttentionAssignmentRow, AttentionDismissalRow
from headgate.features.catalog.own.tables import OwnComponent
from headgate.features.connections.tables import (
    ConnectionApi,
    ConnectionAuthorization,
    ConnectionOperation,
    ConnectionRow,
    ConnectionToken,
)
from headgate.features.conversations.repository import put_conversation
from headgate.features.encryption.keys import make_key
from headgate.features.flows.state.tables import FlowStateRow, FlowStateValueRow
from headgate.features.flows.tables import FlowDraftRow, FlowRow
from headgate.features.idempotency.keys import CLAIM, StartKey
from headgate.features.mcptools.tables import McpServerRow, McpToolRow
from headgate.features.models.tables import ModelClass, ModelFactsRow, ModelRoleRow, ModelServerRow
from headgate.features.runs.answered_calls import AnsweredCall
from headgate.features.runs.approvals.tables import ApprovalDecisionRow, ApprovalLinkRow, ApprovalNoticeRow, ApprovalRow
from headgate.features.runs.budgets.tables import budget_accounts
from headgate.features.runs.chat.tables import chat_feedback
from headgate.features.runs.circuits.tables import host_circuits
from headgate.features.runs.deliveries.tables import webhook_deliveries, webhook_delivery_attempts
from headgate.features.runs.engine.build import build_store
from headgate.features.runs.failure_handlers.tables import failure_handlers
from headgate.features.runs.quotas.bounds import Quota, Scope
from headgate.features.runs.quotas.repository import set_limit
from headgate.features.runs.secret_reads.tables import SecretRead
from headgate.features.runs.sent_events.tables import EventWaitRow, SentEventRow
from headgate.features.runs.slots.tables import run_slots
from headgate.features.runs.tables import flow_runs, flow_step_results
from headgate.features.runs.transitions import Holder, Lease, NewRun, RunKey, Seed, clock
from headgate.features.secrets.reads import STORED_WITH
from headgate.features.slos.tables import SloCountRow, SloRow
from headgate.features.triggers.tables import LinkRow, OccurrenceRow, TriggerRow
from headgate.features.workspace.components import read_components, register_component
from headgate.foundation.ciphertexts import MARK
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id
from tests.integration.isolation.development import add_instance, add_pattern, add_sessions
from tests.integration.isolation.known_documents import add_documents
from tests.integration.isolation.tested import add_tests
from tests.support.own_code import REVERSE, component
from tests.support.tenants import ActingAs

SESSION = "the same session"
OPERATION = "GET /things/{id}"
"""An operation of the API of a connection."""
VARIABLE = "SAME_NAME"
STEP = "said"
DRAFT = 1000
"""Revision of an earlier draft of each flow."""
MODEL_SERVER = "same-server"
WORKSPACE_FILE = "notes/same.md"
OTHER_SPACE = "The same space"
EMAIL, ISSUER, SUBJECT = "the-same@example.org", "https://login.example.org", "the same subject"
OWN_COMPONENT = "TheSame"
"""Registered by somebody of every tenant."""
CODE_HASH = "0" * 64
"""Of code that every tenant has had checked."""
HELD_BY = "elsewhere:1:abcdefabcdef"
"""A worker on another machine that is busy with a run of each tenant."""


PROPOSED = f"{REVERSE}\n# proposed\n"
"""Code that nobody has had checked otherwise."""


@dataclass
class World:
    """A tenant and the ids of what it has. Each list holds its completed, its failed and its running one."""

    principal: Principal
    client: httpx2.AsyncClient
    marker: str
    service_account_id: str = ""
    flow_ids: list[str] = field(default_factory=list)
    run_ids: list[str] = field(default_factory=list)
    file_ids: list[str] = field(default_factory=list)
    """An upload, then artifacts."""
    space_ids: list[str] = field(default_factory=list)
    server_ids: list[str] = field(default_factory=list)
    connection_ids: list[str] = field(default_factory=list)
    assistant_ids: list[str] = field(default_factory=list)
    base_ids: list[str] = field(default_factory=list)
    document_ids: list[str] = field(default_factory=list)
    passage_ids: list[int] = field(default_factory=list)
    delivery_ids: list[str] = field(default_factory=list)
    approval_ids: list[str] = field(default_factory=list)
    comment_ids: list[str] = field(default_factory=list)
    conversation_ids: list[str] = field(default_factory=list)
    event_ids: list[str] = field(default_factory=list)
    trigger_ids: list[str] = field(default_factory=list)
    alert_rule_ids: list[str] = field(default_factory=list)
    """Also of an alert, of a failed notice of the rule, of a connection for notices, and of an SLO of the flow."""
    view_ids: list[str] = field(default_factory=list)
    sign_in_ids: list[str] = field(default_factory=list)
    """Browsers in which the person is signed in."""
    api_key_ids: list[str] = field(default_factory=list)
    token_hash: str = ""
    """Of the sign-in."""
    link_id: str = ""
    key_prefix: str = ""
    passkey_id: str = ""
    group_id: str = ""
    """A group of the directory, in which the person is."""
    empty_group_id: str = ""
    """Another, without members."""
    data_key_id: str = ""
    private_file_id: str = ""
    """An upload that no run has taken."""
    unpublished_id: str = ""
    """A flow that was never published."""
    definition: dict[str, Any] = field(default_factory=dict)
    revision: int = 0
    checksum: str = ""
    key: RunKey = field(default_factory=lambda: RunKey("", "", "", 0))
    """Of the run that another worker is busy with."""
    call: AnsweredCall = field(default_factory=lambda: AnsweredCall("", 0, 0, "", "", "", b"", None, None, 0))
    """An answered call of it."""
    holder: Holder = field(default_factory=lambda: Holder("", 0, "", 0))
    """Who holds its first step."""
    codev_ids: list[str] = field(default_factory=list)
    """Sessions of the development agent."""
    pattern_ids: list[str] = field(default_factory=list)
    result_ids: list[str] = field(default_factory=list)
    """Of a test set that another process is running."""
    proposal_ids: list[str] = field(default_factory=list)
    """Of a component that was proposed to the person."""
    turn_ids: list[str] = field(default_factory=list)
    """Of what the assistant is answering the person."""
    answering: asyncio.Task[Any] | None = None
    """What would end that answer when it is cancelled."""
    held: ExitStack = field(default_factory=ExitStack)

    async def close(self) -> None:
        """Hang up, and end what is being answered."""
        await self.client.aclose()
        self.held.close()
        if self.answering is not None:
            self.answering.cancel()

    def ids(self) -> set[str]:
        """The ids of everything that it has."""
        lists = [value for value in vars(self).values() if isinstance(value, list)]
        return {one for found in lists for one in found} | {self.unpublished_id, self.private_file_id}


async def make_world(app: FastAPI, database: Database, principal: Principal, marker: str) -> World:
    """Fill a tenant through a client that acts as one of its people."""
    world = World(principal, client_of(app, principal), marker)
    made = await ask(world, "POST", "/spaces", json={"name": OTHER_SPACE})
    await make_tenant_things(app, world, database)
    await _make_space(world, database, app.state.box)
    await make_directory(world, database)
    world.space_ids.append(made["id"])
    return world


async def make_tenant_things(app: FastAPI, world: World, database: Database) -> None:
    """What belongs to a tenant as a whole, or to a person of it."""
    await ask(world, "PUT", f"/variables/{VARIABLE}", json={"value": world.marker, "secret": False})
    made = await ask(world, "POST", "/users/service-accounts", json={"name": "nightly-import"})
    world.service_account_id = made["id"]
    member = f"/spaces/{world.principal.space_id}/members/{made['id']}"
    await ask(world, "PUT", member, json={"role": "viewer"})
    await ask(world, "PUT", "/workspace/files/content", params={"path": WORKSPACE_FILE}, json={"text": world.marker})
    await register_component(
        app.state.workspace.for_agent(world.principal), OWN_COMPONENT, component("", f"# {world.marker}")
    )
    proposal = await ask(world, "POST", "/agentic/components/proposals", json={"code": PROPOSED})
    world.proposal_ids.append(proposal["proposal_id"])
    _be_answered(app, world)
    async with database.writing() as session:
        await add_instance(session, world.principal.tenant_id, world.marker)
        await set_limit(session, Scope.TENANT, "", Quota.RUNS, 1000, tenant_id=world.principal.tenant_id)
        for name in (world.marker, VARIABLE):
            row = {"tenant_id": world.principal.tenant_id, "provider": "openai", "name": name, "level": 1}
            await session.execute(insert(ModelClass).values(**row))
        await _set_up_models(session, world)
        person = {"tenant_id": world.principal.tenant_id, "user_id": world.principal.user_id}
        for at, name in enumerate((SESSION, VARIABLE), start=clock()):
            await put_conversation(session, name, f'[["{world.marker}", "{world.marker}"]]', at, **person)
        session.add(User(id=new_id(), tenant_id=world.principal.tenant_id, name="who commands act as"))
        session.add(User(id=new_id(), tenant_id=world.principal.tenant_id, kind="service", name=SUBJECT))
        session.add(
            OwnComponent(
                tenant_id=world.principal.tenant_id,
                code_hash=CODE_HASH,
                type=OWN_COMPONENT,
                template={"label": world.marker},
                manifest={"imports": [], "hosts": [], "files": False},
            )
        )
        world.data_key_id = (await make_key(session, app.state.box, world.principal.tenant_id)).id
        who = {"email": EMAIL, "sso_issuer": ISSUER, "sso_subject": SUBJECT}
        await session.execute(update(User).where(User.id == world.principal.user_id).values(**who))


async def _set_up_models(session: AsyncSession, world: World) -> None:
    """A server of the space and one of the organisation; what is said of a model; the model of a role."""
    tenant = world.principal.tenant_id
    for space in (world.principal.space_id, None):
        values: dict[str, Any] = {"kind": "openai", "address": "http://127.0.0.1:9/v1", "secret_names": [world.marker]}
        session.add(ModelServerRow(tenant_id=tenant, space_id=space, name=MODEL_SERVER, **values))
    for name in (world.marker, VARIABLE):
        session.add(ModelFactsRow(tenant_id=tenant, provider="openai", name=name, facts={"label": world.marker}))
    for role in ("step", "fallback"):
        models = [{"provider": "openai", "name": world.marker, "params": {}}]
        session.add(ModelRoleRow(tenant_id=tenant, role=role, models=models))


def _be_answered(app: FastAPI, world: World) -> None:
    """A turn of the assistant that goes on until somebody stops it."""
    turn_id = new_id()
    work = world.held.enter_context(app.state.assistant.running_turns.working(turn_id, world.principal))
    world.answering = work.task = asyncio.get_running_loop().create_task(asyncio.Event().wait())
    world.turn_ids.append(turn_id)


async def lost_by(app: FastAPI, world: World) -> list[str]:
    """What is gone of what stands in no table: files and components of the workspace, and the turn at work."""
    files = await world.client.get("/workspace/files/content", params={"path": WORKSPACE_FILE})
    kept = await read_components(app.state.workspace.for_agent(world.principal))
    there = {
        WORKSPACE_FILE: files.is_success and files.json()["text"] == world.marker,
        OWN_COMPONENT: world.marker in kept.get(OWN_COMPONENT, ""),
        "the turn": world.answering is not None and not (world.answering.done() or world.answering.cancelling()),
    }
    return [f"{name} of {world.marker} is gone" for name, still in there.items() if not still]


async def make_space_world(app: FastAPI, database: Database, principal: Principal, marker: str) -> World:
    """Fill a space of a tenant that has others."""
    world = World(principal, client_of(app, principal), marker)
    await _make_space(world, database, app.state.box)
    return world


def client_of(app: FastAPI, principal: Principal) -> httpx2.AsyncClient:
    """A client that acts as somebody."""
    transport = httpx2.ASGITransport(app=ActingAs(app, principal), raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411/api/v1")


async def _make_space(world: World, database: Database, box: SecretBox) -> None:
    world.space_ids = [world.principal.space_id]
    await _make_flows(world)
    await _make_files(world)
    await _make_runs(world)
    await _make_running(world, database)
    await _make_rows(world, database, box)
    await _make_credentials(world, database)


async def ask(world: World, method: str, path: str, **more: Any) -> Any:
    """A request that must succeed; its answer as JSON."""
    answer = await world.client.request(method, path, **more)
    assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
    return answer.json() if answer.content else None


async def _make_flows(world: World) -> None:
    for failing in (False, True):
        policy = {"output_type": "json"} if failing else {}
        definition = {
            "name": VARIABLE,
            "description": world.marker,
            "nodes": [
                {"id": "heard", "type": "ChatInput", "label": world.marker, "policy": policy},
                {"id": STEP, "type": "ChatOutput", "label": "Said"},
            ],
            "edges": [{"source": "heard", "output": "text", "target": STEP, "input": "input"}],
        }
        flow = await ask(world, "POST", "/flows", json={"definition": definition})
        world.flow_ids.append(flow["id"])
        await ask(world, "POST", f"/flows/{flow['id']}/publish", json={"notes": world.marker})
        if not failing:
            world.definition, world.revision = flow["definition"], flow["revision"]
            version = await ask(world, "GET", f"/flows/{flow['id']}/versions/1")
            world.checksum = version["checksum"]
    world.unpublished_id = (await ask(world, "POST", "/flows", json={"definition": world.definition}))["id"]
    tagged = {"action": "tag", "flow_ids": world.flow_ids, "tags": [VARIABLE]}
    await ask(world, "POST", "/flow-collections", json=tagged)
    await ask(world, "PUT", f"/flows/{world.flow_ids[0]}/favourite")
    moved = {"action": "move", "flow_ids": world.flow_ids, "folder": VARIABLE}
    await ask(world, "POST", "/flow-collections", json=moved)
    for _ in range(2):
        begun = await ask(world, "POST", "/chat/conversations", json={"flow_id": world.flow_ids[0]})
        await ask(world, "PATCH", f"/chat/conversations/{begun['id']}", json={"title": world.marker})
        world.conversation_ids.append(begun["id"])
    for mentions in ([], [world.principal.user_id]):
        comment = {"text": world.marker, "mentions": mentions, "node_id": "heard"}
        made = await ask(world, "POST", f"/flows/{world.flow_ids[0]}/comments", json=comment)
        world.comment_ids.append(made["id"])


async def _make_files(world: World) -> None:
    upload = {"file": ("the-same-name.txt", world.marker.encode(), "text/plain")}
    world.file_ids.append((await ask(world, "POST", "/files", files=upload))["id"])
    upload = {"file": ("the-same-name.txt", f"private to {world.marker}".encode(), "text/plain")}
    world.private_file_id = (await ask(world, "POST", "/files", files=upload))["id"]


async def _make_runs(world: World) -> None:
    for flow_id, words in zip(world.flow_ids, (world.marker + " and more" * 200, world.marker), strict=True):
        start = {
            "text": words,
            "file_ids": world.file_ids[:1],
            "session_id": SESSION,
            "version": "published",
            "wait": True,
        }
        run = await ask(world, "POST", f"/flows/{flow_id}/runs", json=start)
        assert run["status"] == ("completed" if flow_id == world.flow_ids[0] else "failed"), run
        world.run_ids.append(run["id"])
    artifacts = await ask(world, "GET", "/files", params={"flow_run_id": world.run_ids[0]})
    assert artifacts["items"], "the long text was to become an artifact"
    world.file_ids += [artifact["id"] for artifact in artifacts["items"]]


async def _make_running(world: World, database: Database) -> None:
    """A run in the middle of its first step, held by a worker elsewhere whose lease is good for an hour."""
    world.key = RunKey(new_id(), world.principal.tenant_id, world.flow_ids[0], 1)
    given = json.dumps({"text": world.marker})
    steps = (Seed("heard", 1, 0), Seed(STEP, 2, 1))
    new = NewRun(world.key, given, steps, user_id=world.principal.user_id, session_id=SESSION, claim=("heard",))
    store = build_store(database)
    await store.open()
    lease = Lease(HELD_BY, clock(), clock() + 3_600_000_000)
    await store.create(new, lease)
    world.holder = Holder("heard", 1, HELD_BY, lease.until)
    world.call = AnsweredCall("heard", 1, 1, "model", "echo", "0" * 64, world.marker.encode(), 1, 1, clock())
    assert await store.keep_call(world.key, world.call)
    assert await store.pause(world.key, clock())
    assert await store.unpause(world.key, clock())
    await store.close()
    world.run_ids.append(world.key.run_id)
    above = {"parent_run_id": world.run_ids[0], "parent_step_id": STEP, "parent_iteration": 0}
    async with database.writing() as session:
        await session.execute(update(flow_runs).where(flow_runs.c.id == world.key.run_id).values(**above))
        waits = update(flow_step_results).filter_by(flow_run_id=world.key.run_id, step_id=STEP)
        await session.execute(waits.values(status="waiting", waits_for="event"))
        asks = update(flow_step_results).filter_by(flow_run_id=world.run_ids[0], step_id=STEP)
        await session.execute(asks.values(expected_runs=1))


async def _make_documents(session: AsyncSession, world: World) -> None:
    base, document, passage = await add_documents(session, world.principal, world.file_ids[0], world.marker, VARIABLE)
    world.base_ids.append(base)
    world.document_ids.append(document)
    world.passage_ids.append(passage)
    run = {"run_id": world.run_ids[0], "flow_id": world.key.flow_id, "user_id": world.principal.user_id}
    about = {"base_id": base, "document_ids": [document], "helpful": False, "correction": world.marker}
    values = {"tenant_id": world.principal.tenant_id, "created_at": clock()}
    await session.execute(insert(chat_feedback).values(**run, **about, **values))


async def _make_notices(session: AsyncSession, world: World, approval: str) -> None:
    """A notice that was sent, and a one-time link."""
    of_approval = {"tenant_id": world.principal.tenant_id, "approval_id": approval, "created_at": clock()}
    await session.execute(
        insert(ApprovalNoticeRow).values(
            id=new_id(),
            **of_approval,
            number=0,
            kind="asked",
            status="delivered",
            target=MARK + world.marker.encode(),
            url_shown=world.marker,
            idempotency_key=new_id(),
        )
    )
    await session.execute(
        insert(ApprovalLinkRow).values(
            id=new_id(),
            **of_approval,
            token_hash=new_id(),
            recipient=world.marker,
            user_id=new_id(),
            expires_at=clock() + 1_000_000,
        )
    )


async def _make_trigger(session: AsyncSession, world: World, sealed: bytes) -> None:
    """A webhook with what it started, a schedule, a paused trigger, and a form with a link of the same id."""
    trigger, schedule, paused, form = new_id(), new_id(), new_id(), new_id()
    world.trigger_ids += [trigger, schedule, paused, form]
    configs: dict[str, dict[str, Any]] = {
        trigger: {"kind": "webhook"},
        schedule: {"kind": "schedule", "cron": "0 0 1 1 *"},
        paused: {"kind": "manual"},
        form: {"kind": "form"},
    }
    for id_, config in configs.items():
        webhook = {"secret": sealed, "address": id_} if id_ == trigger else {}
        await session.execute(
            insert(TriggerRow).values(
                id=id_,
                tenant_id=world.principal.tenant_id,
                flow_id=world.flow_ids[0],
                name=world.marker if webhook else config["kind"] if id_ in {paused, form} else VARIABLE,
                kind=config["kind"],
                config=config,
                policies={},
                input={"text": world.marker},
                owner_user_id=world.principal.user_id,
                enabled=id_ != paused,
                paused_reason=world.marker if id_ == paused else "",
                resumed_at=clock(),
                cursor_at=clock(),
                created_at=clock(),
                updated_at=clock(),
                **webhook,
            )
        )
    await session.execute(
        insert(LinkRow).values(
            id=form,
            tenant_id=world.principal.tenant_id,
            trigger_id=form,
            token_hash=sha256(form.encode()).hexdigest(),
            label=world.marker,
            created_at=clock(),
        )
    )
    await session.execute(
        insert(OccurrenceRow).values(
            id=trigger,
            tenant_id=world.principal.tenant_id,
            trigger_id=trigger,
            occurrence_key="event:same",
            created_at=clock(),
            status="skipped",
            message=world.marker,
        )
    )
    await session.execute(
        insert(OccurrenceRow).values(
            id=new_id(),
            tenant_id=world.principal.tenant_id,
            trigger_id=trigger,
            occurrence_key="due:1",
            due_at=1,
            created_at=clock(),
            status="queued",
            content=sealed,
            backfill_id=trigger,
        )
    )


async def _make_desk(session: AsyncSession, world: World) -> None:
    """An item that is dismissed and assigned, and a saved view."""
    user = {"user_id": world.principal.user_id, "tenant_id": world.principal.tenant_id}
    await session.execute(insert(AttentionDismissalRow).values(item_key=world.marker, **user, dismissed_at=clock()))
    await session.execute(insert(AttentionAssignmentRow).values(item_key=world.marker, **user, assigned_at=1))
    world.view_ids.append(new_id())
    view = {"place": "runs", "name": world.marker, "settings": {"filters": {"search": world.marker}}}
    await session.execute(insert(SavedViewRow).values(id=world.view_ids[0], **user, **view))


async def _make_alert(session: AsyncSession, world: World, webhook: bytes) -> None:
    """A rule of a flow with an open alert, a failed notice and a connection for notices, all of the same id."""
    id_, at = new_id(), clock()
    world.alert_rule_ids.append(id_)
    tenant, space = {"tenant_id": world.principal.tenant_id}, {"space_id": world.principal.space_id}
    connection = {"name": id_, "kind": "notification", "fields": {}, "secret_names": [], "hosts": []}
    await session.execute(insert(ConnectionRow).values(id=id_, **tenant, **space, **connection))
    rule = {"name": world.marker, "kind": "failure", "threshold": 1, "window_seconds": 60, "fewest_runs": 1}
    rule |= {"webhook": webhook, "webhook_shown": world.marker, "quiet_seconds": 60, "notify_resolved": True}
    rule |= {"language": "en", "enabled": True, "notices": 1, "created_at": at, "updated_at": at}
    await session.execute(insert(AlertRuleRow).values(id=id_, flow_id=world.flow_ids[0], **tenant, **space, **rule))
    alert = {"rule_id": id_, "subject": world.flow_ids[0], "name": world.marker, "state": "open", "value": 1}
    alert |= {"opened_at": at, "seen_at": at, "pending": ""}
    await session.execute(insert(AlertRow).values(id=id_, **tenant, **space, **alert))
    notice = {"rule_id": id_, "number": 1, "channel": "webhook", "kind": "opened", "status": "failed", "content": {}}
    notice |= {"idempotency_key": id_, "error_code": "receiver_failed", "error_message": world.marker, "created_at": at}
    await session.execute(insert(AlertNoticeRow).values(id=id_, **tenant, **notice))
    await session.merge(AlertEvaluationRow(**tenant))
    slo = {"flow_id": world.flow_ids[0], "name": world.marker, "kind": "success", "runs": "all", "target": 99}
    slo |= {"window_days": 28, "counted_until": 0, "created_at": at, "updated_at": at}
    await session.execute(insert(SloRow).values(id=id_, **tenant, **slo))
    await session.execute(insert(SloCountRow).values(slo_id=id_, at=at, runs=1, good=1, **tenant))


async def _make_api(session: AsyncSession, world: World, connection: str) -> None:
    """Describe the API of a connection, with an operation that changed."""
    await session.execute(
        insert(ConnectionApi).values(
            connection_id=connection,
            tenant_id=world.principal.tenant_id,
            title=world.marker,
            version="1",
            format="OpenAPI 3.1.0",
            server=f"https://127.0.0.1:9/{world.marker}",
            sha256="0" * 64,
        )
    )
    await session.execute(
        insert(ConnectionOperation).values(
            connection_id=connection,
            tenant_id=world.principal.tenant_id,
            key=OPERATION,
            place=0,
            operation_id=VARIABLE,
            search=f"{world.marker} the same text".lower(),
            contract={"summary": world.marker, "description": "", "tags": [], "deprecated": False, "input": {}},
            sha256="1" * 64,
            accepted_sha256="0" * 64,
        )
    )


async def _make_connection(session: AsyncSession, world: World, box: SecretBox) -> None:
    """A connection with a token, a description of its API and an authorization that has begun."""
    connection = new_id()
    world.connection_ids.append(connection)
    await session.execute(
        insert(ConnectionRow).values(
            id=connection,
            tenant_id=world.principal.tenant_id,
            space_id=world.principal.space_id,
            name=VARIABLE,
            kind="webhook_secret",
            fields={"header": world.marker},
            status="failed",
        )
    )
    await session.execute(
        insert(ConnectionToken).values(
            connection_id=connection,
            tenant_id=world.principal.tenant_id,
            revision=1,
            lease="a-lease",
            lease_until=now(),
        )
    )
    await _make_api(session, world, connection)
    await session.execute(
        insert(ConnectionAuthorization).values(
            state_hash=world.marker[:64],
            connection_id=connection,
            tenant_id=world.principal.tenant_id,
            user_id=world.principal.user_id,
            sealed=box.encrypt(SecretStr(world.marker)),
            expires_at=now() + timedelta(days=1),
        )
    )


async def _make_rows(world: World, database: Database, box: SecretBox) -> None:
    tenant, server, delivery, assistant = world.principal.tenant_id, new_id(), new_id(), new_id()
    later = new_id()
    place = {"tenant_id": tenant, "flow_run_id": world.run_ids[0], "flow_id": world.flow_ids[0], "step_id": STEP}
    world.server_ids.append(server)
    world.assistant_ids.append(assistant)
    later = new_id()
    world.delivery_ids += [delivery, later]
    shown = f"https://127.0.0.1:9/{world.marker}"
    key = StartKey(tenant, new_id(), world.principal.user_id or "", "0" * 64, answer=f'"{world.marker}"')
    async with database.writing() as session:
        await session.execute(update(FlowRow).where(FlowRow.id == world.unpublished_id).values(owner_user_id=None))
        draft = {"tenant_id": tenant, "definition": {"name": world.marker}, "saved_at": now(), "restores": None}
        for flow_id in world.flow_ids:
            await session.execute(insert(FlowDraftRow).values(flow_id=flow_id, revision=DRAFT, **draft))
        await session.execute(text(CLAIM), key.values(world.run_ids[0], clock()))
        await _make_desk(session, world)
        world.codev_ids += await add_sessions(session, world.principal, world.flow_ids[0], world.marker)
        world.pattern_ids.append(await add_pattern(session, world.principal, world.codev_ids[0], world.marker))
        of_tests = (world.flow_ids, world.run_ids[0], world.file_ids[0], world.marker)
        world.result_ids.append(await add_tests(session, tenant, *of_tests))
        await _make_connection(session, world, box)
        await session.execute(
            insert(McpServerRow).values(
                id=server,
                tenant_id=tenant,
                space_id=world.principal.space_id,
                name=VARIABLE,
                transport="http",
                url=shown,
                enabled=False,
            )
        )
        await session.execute(
            insert(McpToolRow).values(
                server_id=server,
                name=VARIABLE,
                tenant_id=tenant,
                description=world.marker,
                input_schema={},
                sha256="0" * 64,
                accepted_sha256="0" * 64,
            )
        )
        await session.execute(
            insert(AssistantRow).values(
                id=assistant,
                tenant_id=tenant,
                space_id=world.principal.space_id,
                name=VARIABLE,
                instructions=world.marker,
                model="openai/gpt",
            )
        )
        await _make_documents(session, world)
        await _limit_runs(session, world, tenant)
        sealed = box.encrypt(SecretStr(json.dumps({"value": world.marker, "outside": [], "previous": None})))
        state = {"flow_id": world.flow_ids[0], "draft": False, "name": VARIABLE, "tenant_id": tenant, "version": 1}
        await session.execute(insert(FlowStateRow).values(**state, size=1, content=sealed, changed_at=clock()))
        await session.execute(
            insert(FlowStateValueRow).values(
                **state, content=sealed, flow_run_id=world.run_ids[0], step_id=STEP, written_at=clock()
            )
        )
        await _make_trigger(session, world, box.encrypt(SecretStr(world.marker)))
        await _make_alert(session, world, box.encrypt(SecretStr("https://127.0.0.1:9/hook")))
        event = new_id()
        world.event_ids.append(event)
        topic = {"space_id": world.principal.space_id, "name": VARIABLE, "correlation": world.marker}
        await session.execute(
            insert(SentEventRow).values(
                id=event,
                tenant_id=tenant,
                **topic,
                event_key="key:same",
                deliver="one",
                content=box.encrypt(SecretStr(json.dumps(world.marker))),
                content_hash="0" * 64,
                size_bytes=1,
                outside=[],
                sender={"kind": "user", "name": world.marker},
                received_at=clock(),
                keep_until=clock() + 3_600_000_000,
                deliveries=0,
            )
        )
        for run_id in (world.run_ids[0], world.run_ids[-1]):
            await session.execute(
                insert(EventWaitRow).values(
                    flow_run_id=run_id,
                    step_id=STEP,
                    tenant_id=tenant,
                    flow_id=place["flow_id"],
                    **topic,
                    status="waiting",
                    created_at=clock(),
                )
            )
        approval = new_id()
        world.approval_ids.append(approval)
        content = {"question": world.marker, "value": world.marker, "questions": [], "editable": []}
        await session.execute(
            insert(ApprovalRow).values(
                id=approval,
                **place,
                space_id=world.principal.space_id,
                round=1,
                status="pending",
                content=box.encrypt(SecretStr(json.dumps(content))),
                content_hash="0" * 64,
                assignees=[],
                needed=1,
                approvals=0,
                created_at=clock(),
            )
        )
        await session.execute(
            insert(ApprovalDecisionRow).values(
                approval_id=approval,
                user_id=new_id(),
                tenant_id=tenant,
                user_name=world.marker,
                decision="approve",
                response=box.encrypt(SecretStr(json.dumps({"comment": world.marker, "answers": {}, "edits": {}}))),
                response_hash="0" * 64,
                shown_hash="0" * 64,
                decided_at=clock(),
            )
        )
        await _make_notices(session, world, approval)
        await session.execute(
            insert(SecretRead).values(
                flow_run_id=place["flow_run_id"],
                name=shown.replace(STORED_WITH, " ")[:100],
                tenant_id=tenant,
                flow_id=place["flow_id"],
                step_id=STEP,
                source="space",
                at=now(),
            )
        )
        await session.execute(
            insert(webhook_deliveries).values(
                id=delivery,
                **place,
                status="failed",
                target=MARK + world.marker.encode(),
                url_shown=shown,
                idempotency_key=new_id(),
                attempts=1,
                error_message=world.marker,
                created_at=clock(),
            )
        )
        await session.execute(
            insert(webhook_deliveries).values(
                id=later,
                **{**place, "step_id": "heard"},
                status="pending",
                target=MARK + world.marker.encode(),
                url_shown=shown,
                idempotency_key=new_id(),
                due_at=clock() + 3_600_000_000,
                attempts=1,
                error_message=world.marker,
                created_at=clock(),
            )
        )
        await session.execute(
            insert(webhook_delivery_attempts).values(
                delivery_id=delivery, tenant_id=tenant, attempt_no=1, started_at=1, error_message=world.marker
            )
        )
        step = {"flow_run_id": world.run_ids[0], "tenant_id": tenant, "step_id": STEP}
        asked = {"model_parameters": {"provider": "openai", "name": world.marker}, "attempts": 2}
        await session.execute(update(flow_step_results).filter_by(**step).values(**asked))


async def make_directory(world: World, database: Database) -> None:
    """A directory with a token, the person, and a group of theirs that gives a role in the space."""
    tenant, group = {"tenant_id": world.principal.tenant_id}, new_id()
    world.group_id, world.empty_group_id = group, new_id()
    async with database.writing() as session:
        await hold_directory(session, **tenant)
        used = {"token_id": new_id(), "prefix": "hg_scim_same", "token_hash": _hash(), "token_created_at": now()}
        await session.execute(update(Directory).filter_by(**tenant).values(**used))
        person = {"user_id": world.principal.user_id, **tenant}
        session.add(DirectoryUser(**person, user_name=EMAIL, user_name_key=EMAIL, external_id=SUBJECT))
        session.add(DirectoryGroup(id=group, **tenant, name=world.marker, name_key=VARIABLE.lower()))
        session.add(DirectoryGroup(id=world.empty_group_id, **tenant, name=STEP, name_key=STEP))
        await session.flush()
        session.add(DirectoryGroupMember(group_id=group, **person))
        for space_id in world.space_ids[:1]:
            session.add(DirectoryGroupRole(group_id=group, space_id=space_id, **tenant, role="viewer"))


async def _make_credentials(world: World, database: Database) -> None:
    """A sign-in, a key and a link of the person, as rows: their secrets are in nobody's hands, only their hashes."""
    person = {"tenant_id": world.principal.tenant_id, "user_id": world.principal.user_id}
    later = now() + timedelta(days=1)
    sign_in, key = new_id(), new_id()
    world.sign_in_ids.append(sign_in)
    world.api_key_ids.append(key)
    world.link_id, world.token_hash, world.key_prefix = new_id(), _hash(), f"hg_{key[-8:]}"
    async with database.writing() as session:
        session.add(
            UserSession(
                id=sign_in,
                **person,
                token_hash=world.token_hash,
                expires_at=later,
                address="192.0.2.1",
                user_agent=world.marker,
                method="single_sign_on",
            )
        )
        session.add(TotpAuthenticator(**person, secret=MARK + world.marker.encode(), confirmed_at=now()))
        world.passkey_id, name = new_id(), world.marker[:60]
        keys = {"credential_id": token_bytes(), "public_key": token_bytes(), "sign_count": 0}
        session.add(Passkey(id=world.passkey_id, **person, name=name, **keys))
        session.add(RecoveryCode(id=new_id(), **person, code_hash=CODE_HASH))
        await session.execute(
            update(Tenant).where(Tenant.id == world.principal.tenant_id).values(second_factor_required=True)
        )
        session.add(OneTimeLink(id=world.link_id, **person, token_hash=_hash(), expires_at=later))
        session.add(ApiKey(id=key, **person, name=world.marker, prefix=world.key_prefix, secret_hash=_hash()))
        more = {"name": world.marker, "secret_hash": _hash(), "made_by_key_id": key}
        session.add(ApiKey(id=new_id(), **person, prefix=f"{world.key_prefix}+", **more))


def _hash() -> str:
    return sha256(token_bytes()).hexdigest()


async def _limit_runs(session: AsyncSession, world: World, tenant: str) -> None:
    """A charged budget, slots that are held and waited for, a handled failure, and a host that fails."""
    first, live = world.run_ids[0], world.run_ids[-1]
    charged = {"subject": f"run:{first}", "kind": "tokens", "flow_id": world.flow_ids[0], "flow_run_id": first}
    await session.execute(insert(budget_accounts).values(tenant_id=tenant, **charged, used=5, changed_at=clock()))
    today = charged | {
        "subject": f"flow:{charged['flow_id']}:{now():%Y-%m-%d}",
        "kind": "usd",
        "flow_run_id": None,
    }
    await session.execute(insert(budget_accounts).values(tenant_id=tenant, **today, used=5, changed_at=clock()))
    slot = {"tenant_id": tenant, "most": 1, "priority": 0, "requested_at": clock()}
    of_flow = f"flow:{world.flow_ids[0]}"
    for name, run_id, step_id, at in (
        (VARIABLE, first, STEP, clock()),
        (VARIABLE, live, "", None),
        (of_flow, live, "", None),
    ):
        holder = {"name": name, "flow_run_id": run_id, "step_id": step_id, "granted_at": at}
        await session.execute(insert(run_slots).values(**slot, **holder))
    handler = {"failed_run_id": first, "handler_run_id": live, "status": "due", "created_at": 1, "claimed_at": 1}
    await session.execute(insert(failure_handlers).values(tenant_id=tenant, **handler))
    circuit = {"host": VARIABLE, "failures": 3, "since": 1, "open_until": 1, "probe_until": 1, "last_error": "http_500"}
    of_tenant = select(func.count()).select_from(host_circuits).where(host_circuits.c.tenant_id == tenant)
    if not (await session.execute(of_tenant)).scalar_one():  # worlds of one tenant share it
        await session.execute(insert(host_circuits).values(tenant_id=tenant, **circuit, changed_at=clock()))
