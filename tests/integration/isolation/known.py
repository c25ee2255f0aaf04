"""What the matrix knows of the names that routes and queries use. A name that is missing here fails the matrix.

`OWNED` are values that only one tenant has (ids): the matrix gives another tenant's and expects to be refused.
`SHARED` are values that are the same for every tenant (names, numbers, texts): they make the request complete.
"""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from headgate.entrypoints.http.studio.routes import PLACES
from headgate.features.flows.organization.filters import FlowFilter
from headgate.features.runs.quotas.bounds import Bound, Quota, Scope
from headgate.features.testing.service import revision_of
from headgate.foundation.ciphertexts import MARK
from headgate.foundation.database import now
from headgate.graph.cases import TestCase
from tests.integration.isolation.development import INSTANCE, INTERRUPT
from tests.integration.isolation.worlds import (
    MODEL_SERVER,
    OPERATION,
    PROPOSED,
    SESSION,
    STEP,
    VARIABLE,
    WORKSPACE_FILE,
    World,
)
from tests.support.own_code import REVERSE

OWNED: dict[str, Callable[[World], list[Any]]] = {
    "flow_id": lambda world: world.flow_ids,
    "run_id": lambda world: world.run_ids,
    "parent_run_id": lambda world: world.run_ids[:1],
    "flow_run_id": lambda world: world.run_ids,
    "file_id": lambda world: world.file_ids,
    "file_ids": lambda world: [[file_id] for file_id in world.file_ids],
    "space_id": lambda world: world.space_ids,
    "resource_id": lambda world: world.flow_ids,
    "server_id": lambda world: world.server_ids,
    "server": lambda world: world.server_ids,
    "connection": lambda world: world.connection_ids,
    "connection_id": lambda world: world.connection_ids,
    "state_hash": lambda world: [world.marker[:64]],
    "assistant_id": lambda world: world.assistant_ids,
    "base_id": lambda world: world.base_ids,
    "base_ids": lambda world: [world.base_ids],
    # They have the id of their base.
    "question_id": lambda world: world.base_ids,
    "evaluation_id": lambda world: world.base_ids,
    "source_id": lambda world: world.base_ids,
    "source_ids": lambda world: [world.base_ids],
    "document_id": lambda world: world.document_ids,
    "parent_id": lambda world: world.document_ids,
    "document_ids": lambda world: [[one] for one in world.document_ids],
    "ids": lambda world: [[delivery_id] for delivery_id in world.delivery_ids],
    "approval_id": lambda world: world.approval_ids,
    "approval_ids": lambda world: [world.approval_ids],
    "event_ids": lambda world: [world.event_ids],
    "comment_id": lambda world: world.comment_ids,
    "conversation_id": lambda world: world.conversation_ids,
    "comment_ids": lambda world: [world.comment_ids],
    "event_id": lambda world: world.event_ids,
    "trigger_id": lambda world: world.trigger_ids,
    **dict.fromkeys(("rule_id", "alert_id", "notice_id"), lambda world: world.alert_rule_ids),
    "slo_id": lambda world: world.alert_rule_ids,
    "view_id": lambda world: world.view_ids,
    "owner_id": lambda world: [world.principal.user_id],
    "backfill_id": lambda world: world.trigger_ids[:1],
    "delivery_id": lambda world: world.delivery_ids,
    "space_ids": lambda world: [[space_id] for space_id in world.space_ids],
    "user_id": lambda world: [world.principal.user_id],
    "key_id": lambda world: world.api_key_ids,
    "cursor": lambda world: [world.run_ids[0], world.flow_ids[0], world.file_ids[0]],
    "result_id": lambda world: world.result_ids,
    "turn_id": lambda world: world.turn_ids,
    "proposal_id": lambda world: world.proposal_ids,
    "checksum": lambda world: [world.checksum],
    "passkey_id": lambda world: [world.passkey_id],
    "pattern_id": lambda world: world.pattern_ids,
    "data_key_id": lambda world: [world.data_key_id],
    "group_id": lambda world: [world.group_id],
    "group_ids": lambda world: [[world.group_id]],
    "owner_user_id": lambda world: [world.principal.user_id],
    "user_ids": lambda world: [[world.principal.user_id]],
}
TIDIES = {"pattern": " +", "mode": "replace", "replacement": " "}


def with_step(world: World, type_: str, **params: Any) -> dict[str, Any]:
    """The draft with a step between what is heard and what is said, as an editor holds it that has not saved it."""
    step = {"id": "between", "type": type_, "params": params}
    edges = [
        {"source": "heard", "output": "text", "target": "between", "input": "text"},
        {"source": "between", "output": "text", "target": STEP, "input": "input"},
    ]
    return {**world.definition, "nodes": [*world.definition["nodes"], step], "edges": edges}


_CODEV = "/api/v1/codev/sessions"
_OF_SESSIONS = (
    "",
    "/resume",
    "/stream",
    "/events",
    "/summary",
    "/evidence",
    "/rollback",
    "/stop",
    "/retry",
    "/credentials",
)
ALERTS = ("alert-rules", "alerts", "alert-notices")
OWNED_BY_ROUTE: dict[tuple[str, str], Callable[[World], list[Any]] | None] = {
    **dict.fromkeys((("/api/v1/mcp-servers" + end, "connection") for end in ("", "/{server}")), None),  # a name
    ("/api/v1/approvals/decisions", "decisions"): lambda world: [
        [{"approval_id": approval_id, "decision": "approve"}] for approval_id in world.approval_ids
    ],
    ("/api/v1/flows/{flow_id}/comments/{comment_id}", "flow_id"): lambda world: world.flow_ids[:1],
    ("/api/v1/flow-collections", "flow_ids"): lambda world: [[flow_id] for flow_id in world.flow_ids],
    ("/api/v1/flow-runs/actions", "run_ids"): lambda world: [[run_id] for run_id in world.run_ids],
    **{(f"{_CODEV}/{{session_id}}{what}", "session_id"): lambda world: world.codev_ids for what in _OF_SESSIONS},
    ("/api/v1/codev/sessions", "cursor"): lambda world: world.codev_ids[:1],
    ("/api/v1/codev/patterns", "cursor"): lambda world: world.pattern_ids,
    ("/api/v1/me/sessions/{session_id}", "session_id"): lambda world: world.sign_in_ids,
    ("/api/v1/triggers", "cursor"): lambda world: world.trigger_ids,
    **{(f"/api/v1/{what}", "cursor"): lambda world: world.alert_rule_ids for what in ALERTS},
    **{
        (f"/api/v1/alert-rules{end}", f"{use}connection_id"): lambda world: world.alert_rule_ids
        for end in ("", "/{rule_id}")
        for use in ("", "escalation_")
    },
    ("/api/v1/triggers/{trigger_id}/occurrences", "cursor"): lambda world: world.trigger_ids,
    ("/api/v1/triggers/{trigger_id}/links/{link_id}", "link_id"): lambda world: world.trigger_ids[3:],
    ("/api/v1/triggers/{trigger_id}/links", "cursor"): lambda world: world.trigger_ids,
    ("/api/v1/flows/{flow_id}/tests/results", "cursor"): lambda world: world.result_ids,
    ("/api/v1/audit", "cursor"): lambda world: ["1000000"],
    ("/api/v1/directory/groups", "cursor"): lambda world: [world.group_id],
    ("/api/v1/workspace/files", "cursor"): lambda world: ["a"],
    ("/v1/models/{model}", "model"): lambda world: world.flow_ids,
    ("/v1/chat/completions", "model"): lambda world: world.flow_ids,
}
"""Names that mean something else on one route than on all the rest."""
SHARED: dict[str, Callable[[World], Any]] = {
    "title": lambda _: "Another title",
    "pack": lambda _: "acme-tools",
    "language": lambda _: "sv",
    "public_key": lambda _: "A" * 43 + "=",
    "client_id": lambda world: "a-client",
    "helpful": lambda _: True,
    "priority": lambda _: 3,
    "undocumented": lambda _: True,
    "at_least": lambda _: True,
    "citations": lambda world: [
        {"document_id": "none", "version": 1, "document_sha256": "0" * 64, "start": 0, "end": 1, "sha256": "0" * 64}
    ],
    "query": lambda world: "the same text",
    "question": lambda world: "the same text",
    "step_id": lambda world: STEP,
    "parent_step_id": lambda world: STEP,
    "sealed": lambda world: MARK + world.marker.encode(),
    "scopes": lambda world: "read",
    "expires_at": lambda world: now() + timedelta(days=1),
    "lease": lambda world: "a-lease",
    "error": lambda world: None,
    "tested_at": lambda world: None,
    "event_key": lambda world: "key:same",
    "first_only": lambda world: True,
    "job": lambda world: "orphan_sweep",
    "process_id": lambda _: "host:1:abc",
    "purpose": lambda world: "secrets",
    "key": lambda world: "0" * 16,
    "reason": lambda world: "the same reason",
    "session_id": lambda world: SESSION,
    "name": lambda world: VARIABLE,
    "provider": lambda world: "openai",
    "level": lambda world: 1,
    "role": lambda world: "owner",
    "scope": lambda world: Scope.SPACE,
    "quota": lambda world: Quota.RUNS,
    "most": lambda world: 1,
    "failed_polls": lambda world: 1,
    "kept_at": lambda world: 1,
    "host": lambda world: VARIABLE,
    "turns": lambda world: "[]",
    "bound": lambda world: Bound(Quota.RUNS, Scope.TENANT, "", 1, by_operator=False),
    "email": lambda world: "newcomer@example.org",
    "password": lambda world: "not the password of anybody",
    "current": lambda world: "not the password of anybody",
    "new": lambda world: "a password for tomorrow",
    "token": lambda world: "of-no-link",
    "link_id": lambda world: "0198f6c4-0000-7000-8000-000000000000",
    "recipient": lambda world: "eva@customer.example",
    "content_hash": lambda world: "0" * 64,
    "enabled": lambda world: True,
    "value": lambda world: world.marker,
    "version": lambda world: 1,
    "page": lambda world: 1,
    "before": lambda world: 1,
    "after": lambda world: "draft",
    "component_type": lambda world: "ChatInput",
    "code": lambda world: REVERSE,
    "template_id": lambda world: "document-summary",
    "q": lambda world: "read a page",
    "follow": lambda world: False,
    "decision": lambda world: "approve",
    "action": lambda world: "move",
    "node_id": lambda world: "heard",
    "node_ids": lambda world: [STEP],
    "tags": lambda world: [VARIABLE.lower()],
    "tag": lambda world: VARIABLE.lower(),
    "place": lambda world: "runs",
    "settings": lambda world: {},
    "assigned_to": lambda world: "nobody",
    "within_hours": lambda world: 24,
    "older_hours": lambda world: 0,
    "flow_filter": lambda world: FlowFilter(),
    "trashed": lambda world: False,
    "definition": lambda world: world.definition,
    "revision": lambda world: world.revision,
    "content": lambda world: "name: The same flow\nnodes:\n  heard: ChatInput\n",
    "cases": lambda world: [{"name": "another", "text": world.marker}],
    "input_value": lambda world: "Run it",
    "path": lambda world: WORKSPACE_FILE,
    "text": lambda world: "the same text",
    "why": lambda world: "for the same reason",
    "requirement": lambda world: "the same wish",
    "interrupt_id": lambda world: INTERRUPT,
    "instance_id": lambda world: "",
    "instance": lambda world: INSTANCE,
    "response": lambda world: {"type": "plan_approval", "approved": True},
    "keys": lambda world: [OPERATION],
    "type": lambda world: "CRM_TOKEN",
    "values": lambda world: {"CRM_TOKEN": world.marker},
    "endpoint": lambda world: "https://127.0.0.1:9",
    "address": lambda world: "https://93.184.216.34/v1",
    "logout_token": lambda world: "of.no.provider",
    "credential": lambda world: {"rawId": "AAAA"},
    "required": lambda world: True,
    "second_factor_required": lambda world: False,
    "config": lambda world: {"kind": "schedule", "cron": "0 0 1 1 *"},
    "since": lambda world: "2026-01-01T00:00:00Z",
    "until": lambda world: "2026-01-01T01:00:00Z",
    "file": lambda world: ("the-same-name.txt", b"the same content", "text/plain"),
}
FOR_ROUTE: dict[tuple[str, str], Any] = {
    ("/api/v1/me/second-factor/totp/confirm", "code"): "123456",
    ("/v1/chat/completions", "messages"): [{"role": "user", "content": "the same text"}],
    ("/api/v1/agentic/components", "code"): PROPOSED,
    ("/api/v1/codev/instances", "id"): "another-server",
    ("/api/v1/attention/actions", "action"): "dismiss",
    ("/api/v1/attention/actions", "keys"): ["of-no-item"],
    ("/api/v1/attention", "kind"): ["failed_runs"],
    ("/api/v1/mcp-servers", "name"): "another-server",
    ("/api/v1/connections", "name"): "another-connection",
    ("/api/v1/connections", "kind"): "bearer",
    ("/api/v1/connections", "fields"): {"url": "https://api.example.org"},
    ("/api/v1/connections", "secrets"): {"token": "of-no-service"},
    ("/api/v1/connections/authorizations", "state"): "of-no-authorization",
    ("/api/v1/connections/suggestions", "content"): "curl https://api.example.org/v1/items",
    ("/api/v1/connections/{connection}/api", "content"): "curl https://api.example.org/v1/items",
    ("/api/v1/connections/{connection}/operation", "name"): OPERATION,
    ("/api/v1/connections/{connection}/operations/accept", "operations"): [OPERATION],
    ("/api/v1/connections/{connection}/authorize/poll", "authorization"): "of-no-authorization",
    ("/api/v1/mcp-servers/{server}/tools/accept", "tools"): {},
    ("/api/v1/mcp-servers", "connection"): "crm",
    ("/api/v1/mcp-servers/{server}", "connection"): "",
    **{("/api/v1/mcp-servers/{server}/authorize", name): "" for name in ("client_id", "client_secret", "scopes")},
    ("/api/v1/mcp-servers/{server}/authorize", "register_again"): False,
    ("/api/v1/model-servers/{name}", "name"): MODEL_SERVER,
    ("/api/v1/model-servers/{name}/test", "name"): MODEL_SERVER,
    ("/api/v1/model-roles/{role}", "role"): "step",
    ("/api/v1/model-roles/{role}", "models"): [{"model": "openai/gpt-5-mini"}],
    ("/api/v1/local-models/{name}/fetch", "name"): "no-such-model",
    ("/api/v1/mcp-servers", "url"): "https://example.org/mcp",
    ("/api/v1/assistants", "name"): "Another",
    ("/api/v1/knowledge-bases", "name"): "Another",
    ("/api/v1/knowledge-bases/{base_id}/sources", "name"): "Another",
    ("/api/v1/knowledge-bases/{base_id}/sources", "config"): {"kind": "web", "url": "http://127.0.0.1:9/"},
    ("/api/v1/knowledge-bases/{base_id}/questions/import", "content"): lambda world: (
        f'[{{"question": "Which?", "documents": ["{world.document_ids[0]}"]}}]'
    ),
    ("/api/v1/knowledge-bases/{base_id}/questions/proposals", "model"): "openai/gpt-5-mini",
    ("/api/v1/flows/{flow_id}/tests", "revision"): lambda world: revision_of(
        [TestCase(name="same", text=world.marker, file_ids=[world.file_ids[0]])]
    ),
    ("/api/v1/flows/{flow_id}/triggers", "name"): "Another",
    ("/api/v1/flows/{flow_id}/slos", "name"): "Another",
    ("/api/v1/flows/{flow_id}/slos", "kind"): "success",
    ("/api/v1/alert-rules", "name"): "Another",
    ("/api/v1/alert-rules", "kind"): "failure",
    ("/api/v1/alert-rules", "escalation_seconds"): 600,
    ("/api/v1/alert-rules/{rule_id}", "escalation_seconds"): 600,
    ("/api/v1/flow-collections", "folder"): "Another folder",
    ("/api/v1/flow-runs/actions", "action"): "pause",
    ("/api/v1/flows/{flow_id}/extract", "definition"): lambda world: with_step(world, "Regex", **TIDIES),
    ("/api/v1/flows/{flow_id}/extract", "node_ids"): ["between"],
    ("/api/v1/flows/{flow_id}/inline", "definition"): lambda world: with_step(world, "RunFlow", flow=world.flow_ids[0]),
    ("/api/v1/flows/{flow_id}/inline", "node_id"): "between",
    ("/api/v1/packs", "content"): "AAAA",
    ("/api/v1/packs/preview", "content"): "AAAA",
    ("/api/v1/packs/{pack}", "content"): "AAAA",
    ("/api/v1/packs/signers", "name"): "Acme",
    ("/api/v1/spaces", "name"): "Another space",
    ("/api/v1/spaces/{space_id}", "name"): "The space by another name",
}
"""Values that one route wants other than all the rest, and optional ones that it is given."""
ANSWERS_TO_OWN: dict[tuple[str, str], set[int]] = {
    # the run is of no conversation
    ("PUT", "/api/v1/chat/conversations/{conversation_id}/messages/{run_id}/feedback"): {404},
    # The keys are the installation's: admins of its first organisation manage them, and these are of others.
    ("GET", "/api/v1/keyring"): {403},
    ("POST", "/api/v1/keyring/{purpose}/rotate"): {403},
    ("POST", "/api/v1/keyring/keys/{key}/retire"): {403},
    ("POST", "/api/v1/keyring/keys/{key}/revoke"): {403},
    # So are processes.
    ("GET", "/api/v1/processes"): {403},
    ("PUT", "/api/v1/processes/{process_id}/drain"): {403},
    ("DELETE", "/api/v1/processes/{process_id}/drain"): {403},
    # So are packs.
    ("GET", "/api/v1/packs"): {403},
    ("POST", "/api/v1/packs"): {403},
    ("POST", "/api/v1/packs/preview"): {403},
    ("GET", "/api/v1/packs/signers"): {403},
    ("POST", "/api/v1/packs/signers"): {403},
    ("DELETE", "/api/v1/packs/signers/{key}"): {403},
    ("PUT", "/api/v1/packs/{pack}"): {403},
    ("DELETE", "/api/v1/packs/{pack}"): {403},
    # The account is a user's, and those of other organisations are not there at all.
    ("POST", "/api/v1/users/{user_id}/api-keys"): {422},
    # Runs are over, or of steps.
    ("PUT", "/api/v1/flow-runs/{run_id}/priority"): {409},
    # The run of the approval is over.
    ("POST", "/api/v1/approvals/{approval_id}/decision"): {409},
    ("POST", "/api/v1/approvals/decisions"): {409},
    ("POST", "/api/v1/approvals/{approval_id}/links"): {403},
    # No link was created.
    ("DELETE", "/api/v1/approvals/{approval_id}/links/{link_id}"): {404},
    ("POST", "/api/v1/reviews/read"): {404},
    ("POST", "/api/v1/reviews/decide"): {404},
    # No model is configured, and nothing was written: the session was found, and then not worked on.
    ("POST", "/api/v1/codev/sessions"): {422},
    ("POST", "/api/v1/codev/sessions/stream"): {422},
    ("POST", "/api/v1/codev/sessions/{session_id}/retry"): {422},
    ("POST", "/api/v1/codev/sessions/{session_id}/rollback"): {409},
    # The server's address is one that flows may not reach: it was found, and then not called.
    ("POST", "/api/v1/codev/instances/{instance}/test"): {403},
    ("POST", "/api/v1/mcp-servers/{server}/refresh"): {403},
    ("POST", "/api/v1/mcp-servers/{server}/test"): {403},
    ("POST", "/api/v1/mcp-servers/{server}/authorize"): {403, 422, 502},
    # It is not authorized by OAuth, and no authorization is under way.
    ("GET", "/api/v1/connections/{connection}/files"): {422},
    ("POST", "/api/v1/connections/{connection}/authorize"): {422},
    ("POST", "/api/v1/connections/{connection}/authorize/poll"): {422},
    ("POST", "/api/v1/connections/authorizations"): {422},
    # The connection here is a secret of webhooks, which no API is called with.
    ("PUT", "/api/v1/connections/{connection}/api"): {422},
    ("GET", "/api/v1/connections/{connection}/tables"): {422},
    # No trigger here polls.
    ("GET", "/api/v1/knowledge-bases/{base_id}/documents/{document_id}/pages/{page}"): {422},  # it is no PDF
    ("POST", "/api/v1/triggers/{trigger_id}/dry-run"): {422},
    # It speaks JSON-RPC: tests/integration/mcp asks it for another tenant's things, tool by tool.
    ("POST", "/mcp"): {422},
    ("POST", "/mcp/flows"): {422},
    # No weights of that name are published: nothing is fetched here.
    ("POST", "/api/v1/local-models/{name}/fetch"): {404},
    # Nobody has the password, or the link.
    ("POST", "/api/v1/sign-in"): {401},
    ("POST", "/api/v1/me/password"): {403, 409},
    # These calls come without a session: second factors are tested where people sign in.
    ("GET", "/api/v1/me/second-factor"): {403},
    ("POST", "/api/v1/me/second-factor/totp"): {403},
    ("POST", "/api/v1/me/second-factor/totp/confirm"): {403},
    ("DELETE", "/api/v1/me/second-factor/totp"): {403},
    ("POST", "/api/v1/me/second-factor/recovery-codes"): {403},
    ("POST", "/api/v1/me/confirm"): {403},
    ("GET", "/api/v1/me/passkeys"): {403},
    ("POST", "/api/v1/me/passkeys"): {403},
    ("POST", "/api/v1/me/passkeys/options"): {403},
    ("PATCH", "/api/v1/me/passkeys/{passkey_id}"): {403},
    ("DELETE", "/api/v1/me/passkeys/{passkey_id}"): {403},
    ("POST", "/api/v1/me/confirm/passkey"): {403},
    ("POST", "/api/v1/me/confirm/passkey/options"): {403},
    # The matrix calls a number, to which no passkey can be bound.
    ("POST", "/api/v1/sign-in/passkey"): {404},
    ("POST", "/api/v1/sign-in/passkey/options"): {404},
    ("POST", "/api/v1/password-links/look"): {404},
    ("POST", "/api/v1/password-links/use"): {404},
    # There is no single sign-on here: its own tests sign in with a real provider.
    ("GET", "/api/v1/sign-in/oidc"): {404},
    ("GET", "/api/v1/sign-in/oidc/sign-out"): {404},
    ("POST", "/api/v1/sign-in/oidc/back-channel-logout"): {404},
    ("GET", "/api/v1/sign-in/oidc/callback"): {404},
}
"""Routes that refuse a complete request on a tenant's own things, and with what: nothing is wrong with the request."""
IGNORES: dict[tuple[str, str], str] = {
    ("/api/v1/flows/{flow_id}/dry-run", "file_ids"): "the report says that there is no such file",
    ("/api/v1/attention/actions", "user_id"): "each result says that there is no such item",
    ("/api/v1/approvals/decisions", "decisions"): "each result says that there is no such approval",
    ("/api/v1/flow-collections", "flow_ids"): "each result says that there is no such flow",
    ("/api/v1/flow-runs/actions", "run_ids"): "each result says that there is no such run",
    ("/api/v1/agentic/assist", "file_ids"): "a run is given them, and says that there is no such file",
    ("/api/v1/agentic/assist/stream", "file_ids"): "a run is given them, and says that there is no such file",
}
"""Routes and names that are answered though the value is another tenant's, and what becomes of it."""
NO_PRINCIPAL = {
    "/widget.js": "the script that outside pages include, the same for everybody",
    "/w/frame.js": "the script of the widget's frame, the same for everybody",
    "/w/{flow_id}": "a flow that its publisher offers to everybody; test_widget.py looks at who sees what",
    "/w/{flow_id}/{rest:path}": "what a frame may send; nothing is read",
    "/w/{flow_id}/files": "visitors, with a token of their visit; test_widget.py",
    "/forms/{token}": "a form that its publisher offers; test_forms.py looks at who sees what",
    "/forms/{token}/{rest:path}": "what a page may send; nothing is read",
    "/forms/{token}/files": "visitors, with a token of their visit; test_forms.py",
    "/forms/{token}/submissions": "visitors, with a token of their visit; test_forms.py",
    "/hooks/{address}": "services, with the secret of a trigger; test_webhooks.py",
    "/events/{address}": "services, with the secret of a webhook; test_hook_events.py",
    "/w/{flow_id}/runs": "visitors, with a token of their visit; test_widget.py",
    "/w/{flow_id}/runs/{token}/events": "visitors, with a token of their run; test_widget.py",
    "/w/{flow_id}/runs/{token}/stop": "visitors, with a token of their run; test_widget.py",
    "/w/{flow_id}/runs/{token}/feedback": "visitors, with tokens of their visit and run; test_visitor_feedback.py",
    "/w/{flow_id}/files/{token}": "visitors, with a token of the file; test_widget.py",
    **dict.fromkeys(
        (
            *("/scim/v2/Users", "/scim/v2/Users/{user_id}", "/scim/v2/Groups", "/scim/v2/Groups/{group_id}"),
            *("/scim/v2/Schemas", "/scim/v2/Schemas/{name}", "/scim/v2/ServiceProviderConfig"),
            *("/scim/v2/ResourceTypes", "/scim/v2/ResourceTypes/{name}", "/scim/v2/{rest:path}"),
        ),
        "identity providers, with the token of one organisation; accounts/directory/test_directory.py::TestTenants",
    ),
    "/api/v1/openapi.json": "the same document for everybody",
    "/static-offline-docs": "scripts of the documentation page",
    "/docs": "the documentation page",
    "/sign-in": "the page that asks people in, the same for everybody",
    **dict.fromkeys((place.path for place in PLACES), "the studio's page, the same for everybody"),
    "/assets/{name}": "scripts, styles and fonts of the page",
    "/icon.svg": "its picture",
    "/appearance.js": "the script that chooses light or dark",
}
"""Addresses outside the OpenAPI document, and why they show nothing of anybody."""

NEAR = re.compile(r"(^|_)ids?$")
"""Names that look like ids: an optional one must be known too."""


def owned(path: str, name: str) -> Callable[[World], list[Any]] | None:
    """The values of a name that only one tenant has, on a route; None for a name that all share."""
    return OWNED_BY_ROUTE.get((path, name), OWNED.get(name))


def shared(path: str, name: str, world: World) -> Any:
    """The value of a name that no tenant owns, on a route."""
    found = FOR_ROUTE.get((path, name), SHARED.get(name))
    return found(world) if callable(found) else found


class Unknown(Exception):
    """The matrix does not know how to make a call."""


def is_known(path: str, name: str, *, required: bool) -> bool:
    """Whether a value can be given; False for an optional name that needs none. Raises `Unknown`."""
    if owned(path, name) is not None or (path, name) in FOR_ROUTE or name in SHARED:
        return True
    if required or NEAR.search(name):
        raise Unknown(
            f"does not know what '{name}' is. Add it to OWNED (an id that only one tenant has) or SHARED (the same "
            "for all) in tests/integration/isolation/known.py, and to worlds.py what it stands for."
        )
    return False
