"""Checks that the connections of a flow's steps exist in its space, fit their fields and can be used."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as member
from datetime import timedelta
from typing import Any

from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.connections import repository
from headgate.features.connections.apis import repository as apis
from headgate.features.connections.catalogue import KINDS
from headgate.foundation.database import now
from headgate.graph.check_graph import named
from headgate.graph.classification import Scheme
from headgate.graph.connection_reference import ConnectionReference, connections_of
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Node
from headgate.graph.names import did_you_mean, listed
from headgate.graph.template import FieldTemplate
from headgate.graph.wiring import Wiring

EXPIRES_SOON = timedelta(days=14)
NOTICE_TYPE = "Approval"
"""The component whose connection carries nothing above its classification: that is checked for each notice."""


@dataclass(frozen=True, slots=True)
class KnownConnection:
    """A connection of a space, for checks."""

    kind: str
    personal: bool
    status: str
    expires_in: timedelta | None
    """None: never."""
    classification: int | None = None
    """Highest classification of data that may be sent to it."""
    max_concurrent: int | None = None
    """How many steps may use it at the same time."""
    changed: frozenset[str] = frozenset()
    """Operations, by key and id, whose description has changed since a user accepted it."""
    gone: frozenset[str] = frozenset()
    """Operations that its description no longer has."""
    operations: Mapping[str, Mapping[str, Any]] = member(default_factory=dict)
    """Contracts of those operations that the checked flow names, by that name."""

    @property
    def unusable(self) -> str:
        """Return why a run cannot use it; empty when it can."""
        if self.expires_in is not None and self.expires_in <= timedelta():
            return "has expired"
        return "is not authorized" if self.status == "unauthorized" else ""


async def known_connections(
    session: AsyncSession, *, tenant_id: str, space_id: str, operations: Collection[str] = ()
) -> Mapping[str, Sequence[KnownConnection]]:
    """Return the connections of a space by name, shared ones and those of users. Two queries, three with operations.

    Args:
        session: The session.
        tenant_id: The organisation.
        space_id: The space.
        operations: Keys or ids of the operations whose contracts are needed.
    """
    known: dict[str, list[KnownConnection]] = {}
    rows = await repository.list_of_space(session, tenant_id=tenant_id, space_id=space_id)
    changed: dict[tuple[str, bool], set[str]] = {}
    ids = [row.id for row in rows]
    for connection, key, operation, gone in await apis.list_changed(session, ids, tenant_id=tenant_id) if ids else ():
        changed.setdefault((connection, gone), set()).update(filter(None, (key, operation)))
    named = await apis.list_named(session, ids, operations, tenant_id=tenant_id) if ids and operations else {}
    for row in rows:
        expires_in = None if row.expires_at is None else row.expires_at - now()
        known.setdefault(row.name, []).append(
            KnownConnection(
                row.kind,
                row.owner_id is not None,
                row.state,
                expires_in,
                row.classification,
                row.max_concurrent,
                changed=frozenset(changed.get((row.id, False), ())),
                gone=frozenset(changed.get((row.id, True), ())),
                operations=named.get(row.id, {}),
            )
        )
    return known


def named_connections(wiring: Wiring) -> Iterator[tuple[Node, FieldTemplate, ConnectionReference]]:
    """Yield node, field and reference of every connection that a flow names."""
    for key, node in wiring.nodes.items():
        template = wiring.templates[key]
        if template is None:
            continue
        for name, reference in connections_of(node.params, template):
            field = template.field(name)
            if field is not None:
                yield node, field, reference


def connection_issues(wiring: Wiring, known: Mapping[str, Sequence[KnownConnection]]) -> Iterator[Issue]:
    """Yield issues for connections that are missing, of another kind, or cannot be used."""
    for node, field, reference in named_connections(wiring):
        candidates = known.get(reference.name, ())
        fitting = [
            candidate
            for candidate in candidates
            if not field.connection_kinds or candidate.kind in field.connection_kinds
        ]
        if not candidates:
            yield _missing(node, field, reference, known)
        elif not fitting:
            yield _of_other_kind(node, field, reference, candidates)
        else:
            yield from _of_state(node, field, reference, fitting)
            yield from _of_operations(node, reference, fitting)


def connection_class_issues(
    wiring: Wiring,
    known: Mapping[str, Sequence[KnownConnection]],
    incoming: Mapping[str, int],
    scheme: Scheme,
) -> Iterator[Issue]:
    """Yield issues for steps whose input is classified higher than what their connection may receive."""
    for node, field, reference in named_connections(wiring):
        if node.type == NOTICE_TYPE:
            continue
        level = incoming.get(node.id, 0)
        limits = [
            connection.classification
            for connection in known.get(reference.name, ())
            if connection.classification is not None
        ]
        if limits and max(limits) < level:
            yield Issue(
                IssueCode.CLASSIFICATION,
                f"'{field.name}' of {named(node)} uses the connection '{reference}', which may receive "
                f"{scheme.name(max(limits))}, but its input is classified {scheme.name(level)}.",
                f"Choose a connection that may receive {scheme.name(level)}, or lower the classification of the input.",
                node.id,
                field.name,
            )


def operations_of(params: Mapping[str, JsonValue]) -> list[str]:
    """Return the operations that a node with a connection names: `operation` of ApiCall, `operations` of ApiTools."""
    listed = params.get("operations")
    names = [params.get("operation"), *(listed if isinstance(listed, list) else ())]
    return [name.strip() for name in names if isinstance(name, str) and name.strip()]


def _of_operations(node: Node, reference: ConnectionReference, rows: Sequence[KnownConnection]) -> Iterator[Issue]:
    """Yield issues for operations that changed or vanished: a model gets none that changed, a step still calls it."""
    known = rows[0]
    field = "operations" if isinstance(node.params.get("operations"), list) else "operation"
    for name in operations_of(node.params):
        if name in known.gone:
            yield Issue(
                IssueCode.CONNECTION,
                f"{named(node)} uses the operation '{name}', which the API of the connection '{reference}' "
                "no longer has.",
                f"Choose another one: `headgate connections operations {reference}` lists them.",
                node.id,
                field,
                about=reference.name,
            )
        elif name in known.changed:
            yield Issue(
                IssueCode.CONNECTION,
                f"{named(node)} uses the operation '{name}' of the connection '{reference}', whose description has "
                "changed since it was accepted.",
                f"View the difference and accept it in Settings, or with `headgate connections accept {reference}`.",
                node.id,
                field,
                severity="error" if field == "operations" else "warning",
                about=reference.name,
            )


def _missing(
    node: Node, field: FieldTemplate, reference: ConnectionReference, known: Mapping[str, Sequence[KnownConnection]]
) -> Issue:
    shared = sorted(name for name, rows in known.items() if any(not row.personal for row in rows))
    return Issue(
        IssueCode.CONNECTION,
        f"'{field.name}' of {named(node)} uses the connection '{reference}', which does not exist in this space"
        f"{did_you_mean(reference.name, shared) or '.'}",
        f"Connections: {listed(shared)}. Add it in Settings, or with `headgate connections add {reference}`.",
        node.id,
        field.name,
        about=reference.name,
    )


def _of_other_kind(
    node: Node, field: FieldTemplate, reference: ConnectionReference, rows: Sequence[KnownConnection]
) -> Issue:
    labels = [KINDS[kind].label for kind in field.connection_kinds if kind in KINDS]
    kind = KINDS[rows[0].kind].label
    return Issue(
        IssueCode.CONNECTION,
        f"'{field.name}' of {named(node)} uses the connection '{reference}', which is of the kind {kind}.",
        f"Choose a connection of the kind {listed(labels, most=10)}.",
        node.id,
        field.name,
        about=reference.name,
    )


def _of_state(
    node: Node, field: FieldTemplate, reference: ConnectionReference, rows: Sequence[KnownConnection]
) -> Iterator[Issue]:
    subject = f"'{field.name}' of {named(node)} uses the connection '{reference}', which"
    place = (node.id, field.name)
    if all(row.personal for row in rows):
        yield Issue(
            IssueCode.CONNECTION,
            f"{subject} is personal: each user who starts the flow needs a connection with this name.",
            "Add a shared connection with this name, where the flow runs without a user.",
            *place,
            severity="warning",
            about=reference.name,
        )
        return
    shared = next(row for row in rows if not row.personal)
    if shared.unusable:
        remedy = "Authorize it" if shared.status == "unauthorized" else "Give it a new secret and expiry date"
        yield Issue(
            IssueCode.CONNECTION,
            f"{subject} {shared.unusable}.",
            f"{remedy} in Settings.",
            *place,
            about=reference.name,
        )
    elif shared.status == "rejected":
        yield Issue(
            IssueCode.CONNECTION,
            f"{subject} must be authorized again: a server rejected its access token.",
            "Authorize it in Settings.",
            *place,
            severity="warning",
            about=reference.name,
        )
    elif shared.expires_in is not None and shared.expires_in < EXPIRES_SOON:
        yield Issue(
            IssueCode.CONNECTION,
            f"{subject} expires in {max(1, shared.expires_in.days)} days.",
            "Give it a new secret and expiry date in Settings.",
            *place,
            severity="warning",
            about=reference.name,
        )
