"""Writes the page of permissions from the table itself, and from what every route declares."""

from collections.abc import Iterable, Iterator

from fastapi import FastAPI

from headgate.entrypoints.http.app import create_app
from headgate.entrypoints.http.declarations import declarations
from headgate.entrypoints.http.lazy_routes import load_routes
from headgate.features.access.caller import Needs, Public
from headgate.features.access.permissions import TABLE, Permission, Role, TenantRole
from headgate.foundation.settings import Settings
from headgate.toolkit.operations import OPERATIONS
from headgate.toolkit.registry import TOOLS
from headgate.toolkit.stored import Operation
from headgate.toolkit.tool import ToolDefinition

_HEAD = """# Permissions

This page is generated from the code that decides (`make docs`): the table is the one that every request is checked
against, and the list of routes is what each of them declares. [Running for a
team](../operate/running-for-a-team.md) says how to give people roles, and [the threat
model](../concepts/threat-model.md) what all this protects from whom, and what not.

With auto-login, on one person's machine, none of this shows: the one local user is an admin.

## How it works

- Everybody has **one role in the organisation**: member or admin.
- What people make lives in **spaces**. Flows with their runs, files and evidence, shared assistants and MCP servers
  each belong to one. A person has **one role in each space** that they are a member of. Each role may do what the ones
  to the left of it may.
- **An admin** may do everything in every space of the organisation, and need not be a member.
- **An API key** acts for one person and never widens what they may do. It may be cut down to some permissions (its
  scopes), to some spaces, or both. A key for some spaces does nothing that only admins may, since that reaches over
  all spaces.
- What is in a space that somebody may not see **is not there** for them: lists leave it out, and its address answers
  404, exactly as one that never was. Who may see a thing but not do something to it gets 403, with the missing
  permission by its name.

"""
_TOOLS = "The assistant acts as the user, with the tools that the user's permissions in the flow's space allow.\n\n"
_MCP = "MCP clients act as the user whose key they send; every key for MCP also needs `catalog.view`.\n\n"
_NUANCES = """
What the tables cannot say:

- Running a draft, or a version that was never published, needs `runs.test` besides; so do looking ahead at it, and
  repeating or resuming such a run.
- Deleting a flow that is published needs `flows.publish` besides.
- The owner of a flow is changed by its owner, or by users with `spaces.manage`. The new owner is a member of the
  space who may edit flows there.
- A flow's graph with the results of a run needs `runs.view` besides.
- An upload is seen by the person who uploaded it, and by nobody else, until a run or a test of a flow takes it.
  From then on it is a file of that flow's space.
- Every member may leave a space. Users list and revoke their own API keys; those of all users require
  `keys.manage`.
- Adding, changing, testing, authorizing and deleting a shared connection needs `connections.manage`. A connection
  of one user is seen and used by that user only.
- A program of the server's machine as an MCP server needs `mcp_servers.programs` besides.

"""


def permissions_page() -> str:
    """The page as Markdown."""
    of_tenant = _table(
        TenantRole, (permission for permission, rule in TABLE.items() if isinstance(rule.least, TenantRole))
    )
    of_space = _table(Role, (permission for permission, rule in TABLE.items() if isinstance(rule.least, Role)))
    app = create_app(Settings())
    load_routes(app)
    routes = _routes(app)
    return (
        f"{_HEAD}## In the organisation\n\n{of_tenant}\n## In a space\n\n{of_space}{_NUANCES}"
        f"## What each tool needs\n\n{_TOOLS}{_tools(TOOLS)}\n{_MCP}{_tools(OPERATIONS.values())}\n"
        f"## What each route needs\n\n{routes}"
    )


def _table(roles: type[Role] | type[TenantRole], permissions: Iterable[Permission]) -> str:
    order: list[Role | TenantRole] = list(roles)
    rows = [
        ("Permission", "What it allows", *(str(role) for role in order)),
        ("---", "---", *(":-:" for _ in order)),
    ]
    for permission in permissions:
        rule = TABLE[permission]
        least = order.index(rule.least)
        rows.append((f"`{permission}`", rule.allows, *("✓" if place >= least else "" for place in range(len(order)))))
    return "".join(_line(row) for row in rows)


def _routes(app: FastAPI) -> str:
    rows = sorted(_of_routes(app))
    return "".join(
        _line(row)
        for row in [("Route", "What it does", "Permission"), ("---", "---", "---"), *(row[1] for row in rows)]
    )


def _tools(tools: Iterable[ToolDefinition | Operation]) -> str:
    head = [("Tool", "What it does", "Permission"), ("---", "---", "---")]
    rows = [(f"`{tool.name}`", _sentence(tool.description), f"`{tool.permission}`") for tool in tools]
    return "".join(_line(row) for row in [*head, *rows])


def _sentence(text: str) -> str:
    """Return the first sentence, on one line."""
    return " ".join(text.split()).partition(". ")[0].rstrip(".") + "."


def _of_routes(app: FastAPI) -> Iterator[tuple[tuple[str, str], tuple[str, str, str]]]:
    """Return each route's sort key and its row."""
    for route, declared in declarations(app):
        if not route.include_in_schema:
            continue
        for method in sorted(route.methods or ()):
            path = str(route.path_format)
            yield (path, method), (f"`{method} {path}`", str(route.summary), _describe_declaration(declared))


def _describe_declaration(declared: Needs | Public | None) -> str:
    if isinstance(declared, Needs):
        return f"`{declared.permission}`"
    return f"none: {declared.reason}" if declared is not None else "not declared"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |\n"
