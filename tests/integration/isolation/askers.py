"""The people of one tenant who ask for what is in one of its spaces, and the answer that the table gives each."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from fastapi import FastAPI

from headgate.entrypoints.http.declarations import declarations
from headgate.features.access.caller import Needs, Public
from headgate.features.access.permissions import EVERYTHING, Permission, Role, is_of_space
from headgate.features.access.principal import Access
from tests.integration.isolation.calls import Route
from tests.integration.isolation.worlds import World

Declaration = Needs | Public | None
Name = tuple[str, str]
"""Method and path."""


@dataclass(frozen=True)
class Spaces:
    """The ids of the space that is asked about and of another one of the tenant."""

    here: str
    there: str


@dataclass(frozen=True)
class Asker:
    """Somebody, by what they may do.

    Args:
        title: What failures call them.
        access: Their access, where the spaces are known and what the request needs.
        home: Where their new things go.
    """

    title: str
    access: Callable[[Spaces, frozenset[Permission]], Access]
    home: Callable[[Spaces], str]

    def __str__(self) -> str:
        return self.title


def _here(spaces: Spaces) -> str:
    return spaces.here


def _there(spaces: Spaces) -> str:
    return spaces.there


def _member(role: Role) -> Asker:
    article = "an" if role.value[0] in "aeiou" else "a"
    return Asker(f"{article} {role}", lambda spaces, _: Access(roles={spaces.here: role}), _here)


def _both(spaces: Spaces) -> Mapping[str, Role]:
    return {spaces.here: Role.OWNER, spaces.there: Role.OWNER}


ASKERS = (
    Asker("a stranger", lambda spaces, _: Access(), lambda spaces: ""),
    Asker("an owner of another space", lambda spaces, _: Access(roles={spaces.there: Role.OWNER}), _there),
    Asker(
        "an owner of both with a key for the other space",
        lambda spaces, _: Access(roles=_both(spaces), spaces=frozenset({spaces.there})),
        _there,
    ),
    Asker(
        "an admin with a key for another space",
        lambda spaces, _: Access(admin=True, spaces=frozenset({spaces.there})),
        _there,
    ),
    *(_member(role) for role in Role),
    Asker("an admin", lambda spaces, _: Access(admin=True), _here),
    Asker(
        "an admin with a key for all but this",
        lambda spaces, needed: Access(admin=True, scopes=EVERYTHING - needed),
        _here,
    ),
    Asker(
        "an owner with a key for just this",
        lambda spaces, needed: Access(roles={spaces.here: Role.OWNER}, scopes=needed),
        _here,
    ),
)

ON_POSTGRES = frozenset(
    {"a stranger", "an editor", "an owner of both with a key for the other space", "an owner with a key for just this"}
)
"""Those who ask on PostgreSQL: what each is told is decided in Python, after four kinds of query."""
ON_SQLITE = frozenset({"a viewer", "a publisher", "an admin with a key for all but this"})
"""Those who ask on SQLite in `make test`; in `make test-faults` everybody does."""


class Answer(Enum):
    """What somebody is to be told."""

    REFUSED = "403 with the permission's name"
    HIDDEN = "the answer to an id that never was"
    NOTHING = "a list, or whatever there is, without anything of the space"
    NOWHERE = "there is no space to do it in"
    THEIRS = "404, since it is another person's"
    ALLOWED = "what was asked for"


@dataclass(frozen=True)
class Case:
    """A request of a route, and what it needs."""

    route: Route
    declared: Permission
    needs: Permission
    """What is needed beside the declared scope: mostly the declared permission itself."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Values that make the request one that needs that."""

    @property
    def name(self) -> Name:
        """Method and path."""
        return self.route.method, self.route.path

    @property
    def names_something(self) -> bool:
        """Whether the request is about something of the space, and does not only look through a list for it."""
        places = {self.route.places[name] for name in self.route.owned if name != "user_id"}
        naming = {"path", "json", "form"} | ({"query"} if self.route.method != "GET" else set())
        return not places.isdisjoint(naming)

    @property
    def permissions(self) -> frozenset[Permission]:
        """All that a key must have: a request that gives files needs the right to see them as well."""
        given = {Permission.FILES_VIEW} if "file_ids" in self.route.owned else set()
        return frozenset({self.declared, self.needs, *given, *ALSO.get(self.name, ())})

    def __str__(self) -> str:
        return f"{self.route} {dict(self.values) or ''}".strip()


OF_SHARED_CONNECTIONS: tuple[Name, ...] = (
    ("PATCH", "/api/v1/connections/{connection}"),
    ("DELETE", "/api/v1/connections/{connection}"),
    ("POST", "/api/v1/connections/{connection}/test"),
    ("POST", "/api/v1/connections/{connection}/authorize"),
    ("POST", "/api/v1/connections/{connection}/authorize/poll"),
    ("PUT", "/api/v1/connections/{connection}/api"),
    ("DELETE", "/api/v1/connections/{connection}/api"),
    ("POST", "/api/v1/connections/{connection}/operations/accept"),
)
"""The connection here is shared; who may have only connections of their own may not change it."""
RAISED: Mapping[Name, Callable[[World], list[tuple[dict[str, Any], Permission]]]] = {
    ("POST", "/api/v1/flows/{flow_id}/runs"): lambda world: [
        ({"version": "published"}, Permission.RUNS_START),
        ({"version": "draft"}, Permission.RUNS_TEST),
    ],
    ("POST", "/api/v1/flows/{flow_id}/dry-run"): lambda world: [
        ({"version": "published"}, Permission.RUNS_START),
        ({"version": "draft"}, Permission.RUNS_TEST),
    ],
    ("GET", "/api/v1/flows/{flow_id}/graph"): lambda world: [
        ({"run_id": None}, Permission.FLOWS_VIEW),
        ({"run_id": world.run_ids[0]}, Permission.RUNS_VIEW),
    ],
    ("GET", "/api/v1/flows/{flow_id}/report"): lambda world: [
        ({"run_id": None}, Permission.FLOWS_VIEW),
        ({"run_id": world.run_ids[0]}, Permission.RUNS_VIEW),
    ],
    ("GET", "/api/v1/flows/{flow_id}/picture"): lambda world: [
        ({"run_id": None}, Permission.FLOWS_VIEW),
        ({"run_id": world.run_ids[0]}, Permission.RUNS_VIEW),
    ],
    ("DELETE", "/api/v1/flows/{flow_id}"): lambda world: [
        ({"flow_id": world.unpublished_id}, Permission.FLOWS_EDIT),
        ({"flow_id": world.flow_ids[1]}, Permission.FLOWS_PUBLISH),
    ],
    ("PUT", "/api/v1/flows/{flow_id}/owner"): lambda _world: [({}, Permission.SPACES_MANAGE)],
    ("POST", "/api/v1/flows/{flow_id}/restore"): lambda world: [
        ({"flow_id": world.unpublished_id}, Permission.FLOWS_EDIT),
        ({"flow_id": world.flow_ids[1]}, Permission.FLOWS_PUBLISH),
    ],
    ("PUT", "/api/v1/flows/{flow_id}/state/{name}"): lambda _world: [({}, Permission.FLOWS_PUBLISH)],
    ("DELETE", "/api/v1/flows/{flow_id}/state/{name}"): lambda _world: [({}, Permission.FLOWS_PUBLISH)],
    ("POST", "/api/v1/flows/{flow_id}/inline"): lambda _world: [({}, Permission.FLOWS_VIEW)],
    # an owner of the trigger is named by admins alone
    ("POST", "/api/v1/flows/{flow_id}/triggers"): lambda _world: [
        ({"owner_user_id": None}, Permission.TRIGGERS_MANAGE)
    ],
    ("PATCH", "/api/v1/triggers/{trigger_id}"): lambda _world: [({"owner_user_id": None}, Permission.TRIGGERS_MANAGE)],
    ("POST", "/api/v1/flows/{flow_id}/tests/questions"): lambda _world: [({}, Permission.KNOWLEDGE_EDIT)],
    ("GET", "/api/v1/chat/feedback/{base_id}"): lambda _world: [({}, Permission.RUNS_VIEW)],
    ("POST", "/api/v1/mcp-servers/{server}/authorize"): lambda _world: [
        ({"personal": False}, Permission.MCP_SERVERS_MANAGE)
    ],
    ("POST", "/api/v1/connections"): lambda _world: [
        ({"personal": False}, Permission.CONNECTIONS_MANAGE),
        ({"personal": True}, Permission.CONNECTIONS_OWN),
    ],
    # the file is read too: a key that may only edit knowledge must not open files
    ("POST", "/api/v1/knowledge-bases/{base_id}/documents"): lambda _world: [({}, Permission.FILES_VIEW)],
    **dict.fromkeys(OF_SHARED_CONNECTIONS, lambda _world: [({}, Permission.CONNECTIONS_MANAGE)]),
}
"""Routes whose requests do not all need what the route declares, and what each needs."""
ALSO: Mapping[Name, frozenset[Permission]] = {
    ("GET", "/api/v1/connections/{connection}/tables"): frozenset({Permission.CONNECTIONS_VIEW}),
    ("GET", "/api/v1/connections/{connection}/files"): frozenset({Permission.CONNECTIONS_VIEW}),
    ("POST", "/api/v1/mcp-servers/{server}/authorize"): frozenset(
        {Permission.MCP_SERVERS_VIEW, Permission.CONNECTIONS_MANAGE}
    ),
    ("POST", "/api/v1/knowledge-bases/{base_id}/preview"): frozenset({Permission.KNOWLEDGE_VIEW}),
    ("POST", "/api/v1/flows/{flow_id}/slos"): frozenset({Permission.RUNS_VIEW}),
    ("PATCH", "/api/v1/slos/{slo_id}"): frozenset({Permission.RUNS_VIEW}),
}
"""What a key needs besides, for requests that change two things."""
INSTEAD = frozenset(
    {
        ("POST", "/api/v1/connections"),
        ("POST", "/api/v1/mcp-servers/{server}/authorize"),
        *OF_SHARED_CONNECTIONS,
    }
)
"""Routes whose requests need in the space what they need, and not also what the route declares."""
ALLOWED_AND_REFUSED: Mapping[Name, int] = {
    # the keys are of the first organisation's admins, and these are of another
    ("GET", "/api/v1/keyring"): 403,
    ("POST", "/api/v1/keyring/{purpose}/rotate"): 403,
    ("POST", "/api/v1/keyring/keys/{key}/retire"): 403,
    ("POST", "/api/v1/keyring/keys/{key}/revoke"): 403,
    # so are processes
    ("GET", "/api/v1/processes"): 403,
    ("PUT", "/api/v1/processes/{process_id}/drain"): 403,
    ("DELETE", "/api/v1/processes/{process_id}/drain"): 403,
    # so are packs
    ("GET", "/api/v1/packs"): 403,
    ("POST", "/api/v1/packs"): 403,
    ("POST", "/api/v1/packs/preview"): 403,
    ("GET", "/api/v1/packs/signers"): 403,
    ("POST", "/api/v1/packs/signers"): 403,
    ("DELETE", "/api/v1/packs/signers/{key}"): 403,
    ("PUT", "/api/v1/packs/{pack}"): 403,
    ("DELETE", "/api/v1/packs/{pack}"): 403,
    ("DELETE", "/api/v1/flows/{flow_id}/comments/{comment_id}"): 403,  # another person wrote it
    # another person's connections read it
    ("PATCH", "/api/v1/knowledge-bases/{base_id}/sources/{source_id}"): 403,
    ("DELETE", "/api/v1/knowledge-bases/{base_id}/sources/{source_id}"): 403,
    ("GET", "/api/v1/knowledge-bases/{base_id}/documents/{document_id}/pages/{page}"): 422,  # it is no PDF
    ("POST", "/api/v1/attention/actions"): 404,  # the item that is asked for was in nobody's list
    ("DELETE", "/api/v1/spaces/{space_id}"): 409,  # flows are in it: what they were is kept as evidence
    ("DELETE", "/api/v1/users/{user_id}/single-sign-on"): 409,  # they never came through a provider
    ("GET", "/api/v1/workspace/files/content"): 404,  # one's own workspace is empty, whoever has a file of that name
    ("GET", "/api/v1/workspace/files/download"): 404,
}
"""Routes that refuse even those who may, for a reason that has nothing to do with who asks."""
PERSONAL: Mapping[Name, Permission | None] = {
    ("DELETE", "/api/v1/me/sessions/{session_id}"): None,
    ("PATCH", "/api/v1/me/passkeys/{passkey_id}"): None,
    ("DELETE", "/api/v1/me/passkeys/{passkey_id}"): None,
    ("DELETE", "/api/v1/api-keys/{key_id}"): Permission.KEYS_MANAGE,
    ("POST", "/api/v1/agentic/turns/{turn_id}/stop"): None,
    ("POST", "/api/v1/agentic/components"): None,
    ("GET", "/api/v1/chat/conversations/{conversation_id}/messages"): None,
    ("POST", "/api/v1/chat/conversations/{conversation_id}/messages"): None,
    ("PATCH", "/api/v1/chat/conversations/{conversation_id}"): None,
    ("GET", "/api/v1/chat/conversations/{conversation_id}/feedback"): None,
    ("PUT", "/api/v1/chat/conversations/{conversation_id}/messages/{run_id}/feedback"): None,
    ("DELETE", "/api/v1/chat/conversations/{conversation_id}"): None,
    ("DELETE", "/api/v1/saved-views/{view_id}"): None,
}
"""Routes about what belongs to one person, and the permission with which others may use them."""
_CONVERSATION = "a conversation is of the user who had it"
SOMEWHERE: Mapping[Name, str] = {
    ("GET", "/api/v1/chat/conversations"): _CONVERSATION,
    ("GET", "/api/v1/chat/conversations/{conversation_id}/messages"): _CONVERSATION,
    ("POST", "/api/v1/chat/conversations/{conversation_id}/messages"): _CONVERSATION,
    ("PATCH", "/api/v1/chat/conversations/{conversation_id}"): _CONVERSATION,
    ("GET", "/api/v1/chat/conversations/{conversation_id}/feedback"): _CONVERSATION,
    ("PUT", "/api/v1/chat/conversations/{conversation_id}/messages/{run_id}/feedback"): _CONVERSATION,
    ("DELETE", "/api/v1/chat/conversations/{conversation_id}"): _CONVERSATION,
    ("GET", "/api/v1/saved-views"): "a view is of the user who saved it",
    ("PUT", "/api/v1/saved-views"): "a view is of the user who saved it",
    ("DELETE", "/api/v1/saved-views/{view_id}"): "a view is of the user who saved it",
    ("POST", "/api/v1/files"): "an upload is in no space until a run takes it",
    ("GET", "/api/v1/agentic/check-config"): "providers are the tenant's",
    ("POST", "/api/v1/agentic/page-metrics"): "figures of a window are of no space",
    ("POST", "/api/v1/agentic/turns/{turn_id}/stop"): "a turn is of the person who asked, whichever flow it is about",
    ("POST", "/api/v1/agentic/components"): "a proposal is of the person to whom it was made, and in no space",
    ("POST", "/api/v1/triggers/preview"): "a schedule that is of no flow yet",
    ("POST", "/api/v1/connections/suggestions"): "it reads a description that is of no connection yet",
    ("POST", "/api/v1/connections/authorizations"): "an authorization is of the person who began it",
    ("POST", "/mcp/flows"): "its tools are flows of any space",
    ("GET", "/api/v1/evidence-keys"): "the keys sign for the whole installation",
}
"""Routes that need a permission in any space at all, and why no space is known."""


def declared_by(app: FastAPI) -> dict[Name, Declaration]:
    """What each route of the API declares, by method and path."""
    return {
        (method, str(route.path_format)): found
        for route, found in declarations(app)
        for method in sorted(route.methods or ())
    }


def cases(routes: list[Route], found: Mapping[Name, Declaration], world: World) -> Iterator[Case]:
    """Every request of every route that needs something."""
    for route in routes:
        name = (route.method, route.path)
        declaration = found[name]
        if isinstance(declaration, Needs):
            raised = RAISED[name](world) if name in RAISED else [({}, declaration.permission)]
            for values, needed in raised:
                places = {**dict.fromkeys(values, "json"), **route.places}
                yield Case(replace(route, places=places), declaration.permission, needed, values)


def answer(case: Case, access: Access, home: str, spaces: Spaces) -> tuple[Answer, Permission]:
    """What the table says that somebody is told, and the permission that a refusal names."""
    if access.scopes is not None and case.declared not in access.scopes:
        return Answer.REFUSED, case.declared
    if not is_of_space(case.needs):
        return _of_tenant(case, access, spaces), case.needs
    if case.name in SOMEWHERE:
        able = any(case.needs in access.granted(one) for one in (spaces.here, spaces.there))
        told = Answer.THEIRS if case.name in PERSONAL else Answer.ALLOWED
        return (told if able else Answer.REFUSED), case.needs
    where = spaces.here if case.names_something else None if case.route.method == "GET" else home
    if where == "":
        return Answer.NOWHERE, case.needs
    if where is None:
        return (Answer.ALLOWED if access.sees(spaces.here) else Answer.NOTHING), case.needs
    if not access.sees(where):
        return Answer.HIDDEN, case.needs
    needed = (case.needs,) if case.name in INSTEAD else (case.declared, case.needs)
    missing = [one for one in needed if one not in access.granted(where)]
    return (Answer.REFUSED, missing[0]) if missing else (Answer.ALLOWED, case.needs)


def _of_tenant(case: Case, access: Access, spaces: Spaces) -> Answer:
    if case.needs not in access.granted():
        return Answer.REFUSED
    if case.name in PERSONAL:
        return Answer.ALLOWED if PERSONAL[case.name] in access.granted() else Answer.THEIRS
    if case.names_something and not access.sees(spaces.here):
        return Answer.HIDDEN
    return Answer.ALLOWED
