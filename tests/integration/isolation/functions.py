"""Every repository function and every method of the run store, found by looking, and a call of each."""

import importlib
import inspect
import pkgutil
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import ModuleType, SimpleNamespace
from typing import Any

from sqlalchemy import select, true
from sqlalchemy.ext.asyncio import AsyncSession

import headgate.features
from headgate.features.access.principal import Access
from headgate.features.attention.repository import ALL_FLOWS
from headgate.features.audit.repository import EventFilters
from headgate.features.connections.catalogue import KINDS
from headgate.features.files.reach import entire_tenant, reach_of
from headgate.features.runs.budgets.accounts import Account, BudgetScope, Charge, Kind
from headgate.features.runs.failure_handlers.values import HandlerStatus
from headgate.features.runs.run_filter import RunFilter
from headgate.features.runs.sent_events.topic import Topic
from headgate.features.runs.states import RunStatus
from headgate.features.runs.statistics.periods import period_of
from headgate.features.runs.statistics.repository import Seen
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.tables import flow_runs
from headgate.features.runs.transitions import (
    Claim,
    Failed,
    Finished,
    Lease,
    NewRun,
    Onward,
    Reuse,
    RunKey,
    Seed,
    StepRecord,
    clock,
)
from headgate.foundation.ciphertexts import MARK
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id
from tests.integration.isolation.known import OWNED, SHARED, Unknown
from tests.integration.isolation.tested import TESTED
from tests.integration.isolation.worlds import (
    CODE_HASH,
    DRAFT,
    EMAIL,
    ISSUER,
    MODEL_SERVER,
    SESSION,
    STEP,
    SUBJECT,
    VARIABLE,
    World,
)

Function = Callable[..., Any]
_PLAIN: dict[str, Any] = {
    "round_": 1,
    "limit": 50,
    "search": "",
    "released_only": False,
    "lock": False,
    "authorized": False,
    "deciders": [],
    "error": "",
    "secret": False,
    "sort": "created",
    "deleted": False,
    "without_user": False,
    "visible": true(),
    "draft": False,
}
"""Arguments that are the same whoever asks."""
_NOTHING = {"position", "before", "after", "status", "since", "until", "only", "besides", "organisation"}
"""Filters and places in a list that are left out."""
_SERVER = {"kind": "openai", "address": "http://127.0.0.1:9/v1", "secret_names": [], "updated_at": now()}


def _approval(of: World) -> dict[str, Any]:
    return {
        "id": new_id(),
        "space_id": of.space_ids[0],
        "flow_run_id": of.run_ids[0],
        "flow_id": of.flow_ids[0],
        "step_id": "another",
        "scope": "",
        "status": "pending",
        "content": MARK,
        "content_hash": "0" * 64,
        "assignees": [],
        "needed": 1,
        "approvals": 0,
        "created_at": clock(),
    }


def _event(of: World) -> dict[str, Any]:
    return {
        "id": new_id(),
        "space_id": of.space_ids[0],
        "name": "another",
        "correlation": "",
        "event_key": new_id(),
        "deliver": "one",
        "content": MARK,
        "content_hash": "0" * 64,
        "size_bytes": 1,
        "outside": [],
        "sender": {},
        "received_at": clock(),
        "keep_until": clock(),
        "deliveries": 0,
    }


def _wait(of: World) -> dict[str, Any]:
    return {
        "flow_run_id": of.run_ids[0],
        "step_id": "another",
        "space_id": of.space_ids[0],
        "flow_id": of.flow_ids[0],
        "name": "another",
        "correlation": "",
        "status": "waiting",
        "created_at": clock(),
    }


def _decision(of: World) -> dict[str, Any]:
    return {
        "approval_id": of.approval_ids[0],
        "user_id": new_id(),
        "user_name": "",
        "decision": "approve",
        "response": MARK,
        "response_hash": "0" * 64,
        "shown_hash": "0" * 64,
        "decided_at": clock(),
    }


def _state(of: World) -> dict[str, Any]:
    return {
        "flow_id": of.flow_ids[0],
        "draft": False,
        "name": "another",
        "version": 1,
        "size": 1,
        "content": MARK,
        "changed_at": clock(),
    }


def _feedback(of: World) -> dict[str, Any]:
    run = {"run_id": of.run_ids[0], "flow_id": of.key.flow_id, "user_id": of.principal.user_id}
    about = {"base_id": of.base_ids[0], "document_ids": of.document_ids}
    return {**run, **about, "helpful": True, "correction": "", "created_at": clock()}


def _value(of: World) -> dict[str, Any]:
    return {
        "flow_id": of.flow_ids[0],
        "draft": False,
        "name": VARIABLE,
        "version": 2,
        "content": MARK,
        "written_at": clock(),
    }


def _charge(of: World) -> Charge:
    account = Account(BudgetScope.RUN, of.run_ids[0], {Kind.TOKENS: 9})
    return Charge(account, Kind.TOKENS, f"run:{of.run_ids[0]}", 1)


def _slot(of: World) -> dict[str, Any]:
    holder = {"flow_run_id": of.run_ids[0], "step_id": "another", "granted_at": None}
    return {"name": VARIABLE, **holder, "most": 1, "priority": 0, "requested_at": clock()}


def _circuit(of: World) -> dict[str, Any]:
    return {"host": f"another {of.marker}", "failures": 0, "since": 1, "last_error": "", "changed_at": clock()}


_FOR_FUNCTION: dict[tuple[str, str], Callable[[World], Any]] = {
    ("find_spaces_named", "name"): lambda world: "Personal",
    **{(f"{what}_server", "name"): lambda world: MODEL_SERVER for what in ("find", "save", "delete")},
    ("set_status", "status"): lambda world: "ready",
    ("add_approval", "values"): _approval,
    ("add_event", "values"): _event,
    ("add_wait", "values"): _wait,
    ("find_of_step", "scope"): lambda world: "",
    ("find_occurrence", "key"): lambda world: "event:same",
    ("keys_with_rows", "keys"): lambda world: ["event:same"],
    ("add_authorization", "state_hash"): lambda world: world.marker[-8:] * 8,
    ("claim_refresh", "until"): lambda world: now() + timedelta(days=1),
    **{(what, "since"): lambda world: 0 for what in ("failed_runs", "failed_deliveries")},
    ("queued_runs", "before"): lambda world: clock(),
    ("stuck_runs", "before"): lambda world: clock() + 10**12,
    ("run_ids", "queued_before"): lambda world: None,
    ("run_ids", "stuck_before"): lambda world: clock() + 10**12,
    ("delivery_ids", "since"): lambda world: 0,
    **{(what, "place"): lambda world: "runs" for what in ("list_views", "put_view")},
    ("put_view", "name"): lambda world: "another",
    ("put_view", "settings"): lambda world: {},
    ("unassign", "keys"): lambda world: [world.marker],
    ("assignments", "keys"): lambda world: [world.marker],
    ("assign", "key"): lambda world: "connection:same",
    ("delete_old_assignments", "before"): lambda world: clock(),
    ("broken_connections", "expires_before"): lambda world: now() + timedelta(days=9_000),
    ("dismiss", "key"): lambda world: "connection:same",
    ("add_conversation", "conversation_id"): lambda _: new_id(),
    **{(what, "conversation_id"): lambda _: SESSION for what in ("list_message_runs", "has_message", "list_feedback")},
    ("put_feedback", "values"): _feedback,
    ("list_feedback_on_base", "before"): lambda _: None,
    ("restore", "key"): lambda world: world.marker,
    ("due_with_rows", "since"): lambda world: 0,
    ("due_with_rows", "until"): lambda world: clock(),
    ("name_taken", "name"): lambda world: world.marker,
    ("list_alerts", "state"): lambda world: "open",
    ("sums", "ids"): lambda world: world.alert_rule_ids,
    ("sums", "starts"): lambda world: {"begin": 0},
    ("parts", "start"): lambda world: 0,
    ("parts", "step"): lambda world: 10**18,
    ("add_counts", "rows"): lambda world: [SimpleNamespace(at=0, runs=1, good=1)],
    ("delete_counts", "before"): lambda world: clock(),
    ("count_occurrences", "since"): lambda world: 0,
    ("find_shared", "kinds"): lambda world: tuple(KINDS),
    ("list_triggers", "kind"): lambda world: None,
    ("list_users", "kind"): lambda world: None,
    ("find_service_account", "name"): lambda world: SUBJECT,
    ("list_triggers", "state"): lambda world: None,
    ("list_triggers", "text"): lambda world: "",
    ("list_occurrences", "before"): lambda world: None,
    ("list_form_links", "before"): lambda world: None,
    **{
        (what, name): lambda world: world.trigger_ids[3]
        for what in ("list_form_links", "count_open_links", "find_form_link", "revoke_form_link")
        for name in ("trigger_id", "link_id")
    },
    ("settle_wait", "changes"): lambda world: {"status": "timed_out"},
    ("count_delivery", "steps"): lambda world: 1,
    ("list_waiting", "run_id"): lambda world: world.run_ids[-1],
    ("list_pauses", "run_id"): lambda world: world.key.run_id,
    ("add_decision", "values"): _decision,
    ("add_state", "values"): _state,
    ("change_state", "values"): lambda world: {**_state(world), "name": VARIABLE},
    ("add_value", "values"): _value,
    ("delete_values", "until"): lambda world: 1,
    ("delete_values", "kept_runs"): lambda world: select(flow_runs.c.id).where(flow_runs.c.id == ""),
    ("hold_accounts", "charges"): lambda world: [_charge(world)],
    ("add_used", "charge"): _charge,
    ("add_used", "amount"): lambda world: 1,
    ("read_used", "subjects"): lambda world: [f"run:{world.run_ids[0]}"],
    ("request_slot", "values"): _slot,
    ("add_circuit", "values"): _circuit,
    ("change_circuit", "values"): lambda world: {"failures": 4},
    ("claim_probe", "until"): lambda world: clock(),
    ("claim_new", "run_id"): lambda world: world.run_ids[-1],
    ("claim_new", "handler_run_id"): lambda world: new_id(),
    ("claim_left", "now"): lambda world: clock(),
    ("remove_old_evaluations", "keep"): lambda world: 0,
    ("settle_handler", "status"): lambda world: HandlerStatus.STARTED,
    ("settle_handler", "problem"): lambda world: None,
    ("find_handling", "handled"): lambda world: False,
    ("read_failed_step", "run_id"): lambda world: world.run_ids[0],
    ("list_undecided", "user_id"): lambda world: new_id(),
    ("list_undecided", "run_states"): lambda world: [status.value for status in RunStatus],
    ("save_server", "values"): lambda world: _SERVER,
    ("find_draft", "revision"): lambda world: DRAFT,
    ("put_facts", "facts"): lambda world: {"label": world.marker},
    **{(f"{what}_role", "role"): lambda world: "step" for what in ("find", "put", "delete")},
    ("put_role", "models"): lambda world: [{"provider": "openai", "name": world.marker, "params": {}}],
    ("other_owners", "user_id"): lambda world: "",
    ("delete_dead_sessions", "idle_since"): lambda world: now() + timedelta(days=1),
    ("read_rows", "after"): lambda world: 0,
    ("delete_sessions", "token_hash"): lambda world: None,
    ("put_in_space", "file_ids"): lambda world: [world.private_file_id],
    ("list_passages", "after"): lambda world: -1,
    ("move_passages", "moved"): lambda world: [{"id": world.passage_ids[0], "ordinal": 7}],
    ("delete_passages", "ids"): lambda world: world.passage_ids,
    ("connection_names", "ids"): lambda world: world.connection_ids,
    ("set_readers", "readers"): lambda world: [("group", world.group_id)],
    ("set_rights", "readers"): lambda world: ("viewer", [("group", world.group_id)]),
    ("set_rights", "classification"): lambda world: 0,
    ("list_problems", "after"): lambda world: "",
    ("delete_item", "key"): lambda world: world.marker,
    ("list_over", "logic"): lambda world: TESTED,
    ("list_over", "tests"): lambda world: TESTED,
    ("add_tags", "tags"): lambda world: ["another"],
    ("add_favourite", "flow_id"): lambda world: world.flow_ids[1],
    ("count_trials", "result_ids"): lambda world: world.result_ids,
    ("end", "status"): lambda world: "cancelled",
    ("end", "reason"): lambda world: "",
    ("prune", "limit"): lambda world: 0,
    ("end_provider_sessions", "provider_session"): lambda world: None,
    ("end_provider_sessions", "until"): lambda world: now() + timedelta(days=1),
    ("note_used", "sign_count"): lambda world: 1,
    ("set_required", "required"): lambda world: False,
    ("claim_step", "step"): lambda world: 60_000_000,
    ("claim_recovery_code", "code_hash"): lambda world: CODE_HASH,
    ("note_confirmed", "session_id"): lambda world: world.sign_in_ids[0],
    ("note_confirmed", "factor"): lambda world: "totp",
    ("find_user_named", "key"): lambda world: EMAIL,
    ("join_group", "group_id"): lambda world: world.empty_group_id,
}
"""Arguments that one function wants other than all the rest, so that it finds or changes something."""
CUTS = ("space_ids", "spaces", "reach")
"""Arguments that say which spaces the caller sees."""
ASKS_WHICH_SPACES = {"names_of_spaces", "spaces_of_member", "hold_spaces"}
"""Their `space_ids` are what is asked about."""
COUNTS = {"count_folders", "count_tags", "count_flows"}
"""They return names and numbers, no ids: features/flows/test_organization.py looks at who sees which."""
NEW_ROWS = {
    "add_space": "inserts the row that a service made; a foreign key binds it to its tenant",
    "add_file": "inserts the record of a content that was stored under the tenant's own folder",
    "add_assistant": "inserts the row that a service made; a foreign key binds its space to its tenant",
    "add_knowledge": "inserts the row that a service made; foreign keys bind it to one tenant",
    "put_item": "writes the item that a synchronisation made; foreign keys bind it to the tenant of its source",
    "remove_knowledge": "removes a row that a service found in the caller's tenant",
    "delete_assistant": "removes a row that a service found in the caller's tenant",
    "add_challenge": "inserts a challenge, which is of nobody until it is answered",
    "add_passkey": "inserts the row that a service made for the caller; a foreign key binds it to their tenant",
    "add_authenticator": "inserts the row that a service made for the caller; a foreign key binds it to their tenant",
    "add_recovery_codes": "inserts rows that a service made for the caller; foreign keys bind them to their tenant",
    "add_members": "inserts the rows that a service made; foreign keys bind space and users to one tenant",
    "add_user": "inserts the row that a service made, of the tenant of who asks",
    "add_member": "inserts the row that a service made; foreign keys bind its space and its person to one tenant",
    "remove_member": "removes a row that a service found in the caller's tenant",
    "keep_draft": "inserts the draft of a flow that a service found in the caller's tenant, and deletes older ones",
    "add_occurrences": "inserts rows of a trigger that a service found; a foreign key binds them to its tenant",
    "add_form_links": "inserts rows of a trigger that a service found; a foreign key binds them to its tenant",
    "add_version": "inserts a version; foreign keys bind steps and edges to its flow",
}
"""Functions that take whole rows in place of a tenant, and what binds those to one."""
_OPERATOR = "commands of the operator, who has the database; no route calls it"
_UPKEEP = "a scheduled job that goes through every tenant; no route reaches it with an id it was given"
_AT_THE_DOOR = "nobody has signed in yet; no id is given, and what is answered goes to nobody before they have"
_CLAIMED = "takes a job that this process has claimed; no route reaches it with an id it was given"
_KEY = "takes an idempotency key, which carries the tenant of who sent it; test_idempotency.py asks as another"
_PACKS = "packs belong to the installation; features/flows/packs asks who the caller is, and catalogs show them to all"
_PROCESSES = "processes are the installation's; its admins see and drain them"
_METRICS = "for the operator's metrics, which have ids and numbers, and no name"
_RING = "the keys are the installation's; its admins and a job count and encrypt values again, and read none"
WORKER_ONLY = {
    "queued_runs": "no run of the world is queued; its statement is that of failed_deliveries",
    "find_published": "visitors of widgets are of no tenant: the flow says which; it finds what is published alone",
    "list_waiting_runs": "no run of the world waits for a worker or a slot; its statement is that of list_groups",
    "priority_of": "returns a number to the engine about a run that it executes",
    "has_ancestor_of": "says yes or no to the engine about a run that it executes",
    "free_names": "engines grant slots of every tenant; each row carries its tenant from there",
    "list_unhandled": "engines start handlers of every tenant; each row carries its tenant from there",
    "list_left": "engines start handlers of every tenant; each row carries its tenant from there",
    "add_circuit": "inserts the row of a host that a step of the tenant called",
    "flows_with_retention": _UPKEEP,
    "expired_runs": _UPKEEP,
    "payers_among": _UPKEEP,
    "audit_heads": _UPKEEP,
    "orphan_candidates": _UPKEEP,
    "expired_files": _UPKEEP,
    "known_files": _UPKEEP,
    "list_tenants": _OPERATOR,
    "last_backup": "says when the whole installation was backed up; a number for its metrics",
    "find_tenant_called": _OPERATOR,
    "users_of_address": _AT_THE_DOOR,
    "find_link": _AT_THE_DOOR,
    "find_by_credential": _AT_THE_DOOR,
    "find_by_token": _AT_THE_DOOR,
    "take_challenge": _AT_THE_DOOR,
    "delete_expired_challenges": _UPKEEP,
    "can_anyone_sign_in": "says yes or no to the operator",
    "find_claimed": _CLAIMED,
    "find_by_address": "services and visitors at a public address are of no tenant: the trigger says which",
    "find_by_hash": "visitors with a one-time link are of no tenant: the link says which",
    "delete_old_links": _UPKEEP,
    "live_runs": "takes the trigger's row, and its tenant with it",
    "last_outcomes": "takes the trigger's row, and its tenant with it",
    "count_started": "takes the trigger's row, and its tenant with it",
    "replace_queued": "takes the trigger's row, and its tenant with it",
    "delete_skipped": "takes the trigger's row, and its tenant with it",
    "clear_caught": _UPKEEP,
    "delete_old": _UPKEEP,
    "open_attempt": _CLAIMED,
    "update_claimed": _CLAIMED,
    "is_held": _CLAIMED,
    "find_indexed": _CLAIMED,
    "find_synced": _CLAIMED,
    "hold_source": _CLAIMED,
    "hold_generation": _CLAIMED,
    "superseded_versions": _UPKEEP,
    "any_document": "a condition; queries add the tenant",
    "find_output": "takes the delivery's row, and its tenant with it",
    "close_attempt": _CLAIMED,
    "append_event": _CLAIMED,
    "find": _KEY,
    "hold": _KEY,
    "settle": _KEY,
    "release": _KEY,
    "delete_expired": _UPKEEP,
    "delete_expired_conversations": "takes a time and no id; deletes conversations that are not shown any more",
    "count_conversations": "a number for the metrics of the installation",
    "count_expired": _UPKEEP,
    "list_packs": _PACKS,
    "find_pack": _PACKS,
    "add_pack": _PACKS,
    "change_pack": _PACKS,
    "remove_pack": _PACKS,
    "add_pack_items": _PACKS,
    "list_pack_items": _PACKS,
    "list_items_of_pack": _PACKS,
    "add_pack_component": _PACKS,
    "list_pack_components": _PACKS,
    "list_current_pack_components": _PACKS,
    "list_pack_hashes": _PACKS,
    "list_pack_signers": _PACKS,
    "find_pack_signer": _PACKS,
    "add_pack_signer": _PACKS,
    "remove_pack_signer": _PACKS,
    "save_process": _PROCESSES,
    "find_process": _PROCESSES,
    "list_process_rows": _PROCESSES,
    "list_dead_processes": _PROCESSES,
    "set_drain": _PROCESSES,
    "forget_processes": _PROCESSES,
    "list_of_installation": _METRICS,
    "count_of_installation": _METRICS,
    "count_of_tenants": "counts for admins of the installation; services ask who the caller is",
    "list_ring_keys": _RING,
    "find_ring_key": _RING,
    "add_ring_key": _RING,
    "change_ring_key": _RING,
    "wake_current": _RING,
    "demote_current": _RING,
    "save_reader": _RING,
    "forget_readers": _RING,
    "live_readers": _RING,
    "count_values": _RING,
    "count_others": _RING,
    "next_values": _RING,
    "replace_value": _RING,
    "lock_values": _RING,
}
"""Functions that work for every tenant in turn, and who calls them."""
ENGINE_ONLY = {
    "open": "connects",
    "rest": "the engine that ran the run",
    "wake": "wakes due steps of every tenant; each carries its own key from there",
    "next_due": "says a time to the engine",
    "overdue": "ends runs of every tenant at their deadlines; each carries its own key from there",
    "orphans": "recovery looks for runs of every tenant; each carries its own key from there",
    "suspend": "names the worker and the attempt that hold the step",
    "prove_write": "writes nothing of anybody",
    "close": "disconnects",
    "renew": "names the worker and the attempt that hold each step",
    "is_cancelled": "says yes or no to the engine that carries the run out",
    "stops_before": "says yes or no to the engine that executes the run",
    "status": "says one word to the engine that carries the run out",
    "load": "recovery goes on with runs of every tenant; each carries its own key from there",
    "worked": "says a number to the sweep that looks for runs which take too long",
    "stragglers": "recovery looks for steps of every tenant; each carries its own key from there",
    "live_runs": "recovery looks for runs of every tenant; each carries its own key from there",
}
"""Methods of the run store that take no tenant, and why: no route reaches them with an id that it was given."""


def repositories() -> list[ModuleType]:
    """Every module of a slice that holds its queries."""
    names = [found.name for found in pkgutil.walk_packages(headgate.features.__path__, "headgate.features.")]
    return [importlib.import_module(name) for name in names if name.rpartition(".")[2].endswith("repository")]


def functions_of(module: ModuleType) -> Iterator[Function]:
    """The public coroutine functions that a module itself defines."""
    for name, function in inspect.getmembers(module, inspect.iscoroutinefunction):
        if not name.startswith("_") and function.__module__ == module.__name__:
            yield function


def store_methods() -> list[str]:
    """The names of the run store's methods."""
    return [name for name, _ in inspect.getmembers(RunStore, inspect.iscoroutinefunction) if not name.startswith("_")]


def arguments_of(function: Function, of: World, tenant_id: str) -> dict[str, Any]:
    """Everything but the session: ids of one tenant, asked for in another's name. Raises `Unknown`."""
    found: dict[str, Any] = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        name = parameter.name
        if parameter.annotation is Seen:
            found[name] = Seen(tenant_id, None, period_of("90d", clock()))
        else:
            found[name] = tenant_id if name == "tenant_id" else _argument(function, parameter, of)
    return found


def cut_to(of: World, name: str) -> Any:
    """The value of an argument of `CUTS` for somebody who sees only the other space of the tenant."""
    spaces = frozenset({of.space_ids[1]})
    if name != "reach":
        return spaces
    return reach_of(replace(of.principal, user_id=new_id(), access=Access(admin=True, spaces=spaces)))


def uncut(name: str) -> Any:
    """The value of an argument of `CUTS` for somebody who sees the whole tenant."""
    return entire_tenant() if name == "reach" else None


def _argument(function: Function, parameter: inspect.Parameter, of: World) -> Any:
    name = parameter.name
    if (function.__name__, name) in _FOR_FUNCTION:
        return _FOR_FUNCTION[function.__name__, name](of)
    if name in {"file_ids", "delivery_ids", "run_ids", "flow_ids", "server_ids", "connection_ids"}:
        return getattr(of, name)
    if name in OWNED:
        return OWNED[name](of)[0]
    if name in _PLAIN:
        return _PLAIN[name]
    if name in _NOTHING:
        return None
    special: dict[str, Any] = {
        "names": [VARIABLE, "The same flow"],
        "hosts": None,
        "flows": ALL_FLOWS,
        "until": None,
        "group": flow_runs.c.flow_id,
        "runs": None,
        "but": (),
        "token": b"hg1.sealed",
        "wrapped": b"hg1.sealed",
        "topic": Topic(of.principal.tenant_id, of.principal.space_id, VARIABLE, of.marker),
        "updated_at": now(),
        "at": now() if parameter.annotation is datetime else clock(),
        "idle_since": now() - timedelta(days=1),
        "spaces": of.space_ids[:1],
        "reach": entire_tenant(),
        "token_hash": of.token_hash,
        "link_id": of.link_id,
        "prefix": of.key_prefix,
        "email": EMAIL,
        "issuer": ISSUER,
        "subject": SUBJECT,
        "filters": EventFilters(),
        "run_filter": RunFilter(),
        "words": "",
        "among": 100,
        "hashes": [CODE_HASH],
        "code_hash": "f" * 64,
        "type_": "Another",
        "template": {},
        "manifest": {},
        "seq": 1,
        "source": "space",
        "conditions": (),
        "order": (),
        "offset": 0,
        "external_id": SUBJECT,
        "last": 1000,
    }
    if name in special:
        return special[name]
    if name in SHARED:
        return SHARED[name](of)
    raise Unknown(
        f"does not know what to give {function.__module__}.{function.__name__} as '{name}'. Add the name to OWNED or "
        "SHARED in tests/integration/isolation/known.py."
    )


@asynccontextmanager
async def trial(database: Database) -> AsyncIterator[AsyncSession]:
    """A session whose changes are looked at and never kept."""
    async with AsyncSession(database.engine) as session:
        yield session
        await session.rollback()


@dataclass(frozen=True)
class StoreCall:
    """A call of the run store about a tenant's run, in a given tenant's name."""

    arguments: tuple[Any, ...]
    refusal: Callable[[Any], bool]
    """Whether the answer says that there is no such run. An error of Headgate's says so too."""


def store_calls(of: World, tenant_id: str) -> Mapping[str, StoreCall]:
    """A call of each method that takes a tenant: of the run that another worker is in the middle of."""
    key = RunKey(of.key.run_id, tenant_id, of.key.flow_id, of.key.version)
    lease, claim, record = Lease("me:1:abcdefabcdef", clock(), clock() + 1_000_000), Claim("heard", 1), StepRecord()
    onward = Onward(settles={STEP: 1}, claim=(STEP,))

    past = RunKey(new_id(), tenant_id, of.key.flow_id, of.key.version)
    steps = (Seed("heard", 1, 0), Seed(STEP, 2, 1))
    again = NewRun(past, '{"text": "again"}', steps, reuse=Reuse(of.run_ids[0], ("heard",), STEP))
    failed = RunKey(of.run_ids[1], tenant_id, of.flow_ids[1], 1)

    def nothing(answer: Any) -> bool:
        return not answer

    def unwritten(answer: Any) -> bool:
        return not answer.recorded

    return {
        "read": StoreCall((of.key.run_id, tenant_id), nothing),
        "read_all": StoreCall(([of.key.run_id], tenant_id), lambda answer: answer == []),
        "cancel": StoreCall((of.key.run_id, tenant_id, clock()), nothing),
        "pause": StoreCall((key, clock()), nothing),
        "unpause": StoreCall((key, clock()), nothing),
        "advance": StoreCall((key, onward, lease, Finished(claim, record)), unwritten),
        "fail": StoreCall((key, Failed(claim, "invalid", "It failed.", record), clock()), unwritten),
        "take_over": StoreCall((key, (of.holder,), lease), nothing),
        "end": StoreCall((key, "flow_deleted", "It ended.", clock()), nothing),
        "resume": StoreCall((failed, clock()), nothing),
        "create": StoreCall((again, lease), lambda answer: False),
        "events_after": StoreCall((of.key.run_id, tenant_id, 0, 10), nothing),
        "keep_call": StoreCall((key, of.call), nothing),
        "calls_of": StoreCall((key, of.call.step_id), nothing),
        "children": StoreCall((key, STEP, 0, 10), nothing),
        "child_states": StoreCall((key, STEP), lambda states: states.started == 0),
        "run_wait": StoreCall((of.key.run_id, tenant_id), nothing),
        "past_turns": StoreCall((key, "the same session", of.principal.user_id, 10), nothing),
    }
