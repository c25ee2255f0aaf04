"""SCIM 2.0 routes (RFC 7644) below /scim/v2, for identity providers.

They are not in the OpenAPI document: SCIM describes itself, at /Schemas and /ResourceTypes.
"""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.caller import public
from headgate.features.access.principal import Principal
from headgate.features.accounts.directory import groups, repository, users
from headgate.features.accounts.directory.access import hold
from headgate.features.accounts.directory.errors import ScimAddressUnknown
from headgate.features.accounts.directory.repository import UserRow
from headgate.features.accounts.directory.scim import discovery, patch, user_document
from headgate.features.accounts.directory.scim.access_route import ConnectedDirectory
from headgate.features.accounts.directory.scim.conditions import GROUP, USER, Attributes, condition_of, sort_column
from headgate.features.accounts.directory.scim.filters import parse_filter
from headgate.features.accounts.directory.scim.messages import (
    Listing,
    ScimResponse,
    ScimRoute,
    Selection,
    is_unchanged,
    list_response,
    listing_of,
    read_body,
    require_version,
    root_of,
    selection_of,
)
from headgate.features.accounts.directory.tables import DirectoryGroup
from headgate.foundation.api import ReadSession, WriteSession

router = APIRouter(prefix="/scim/v2", route_class=ScimRoute, include_in_schema=False)
_TOKEN = [public("A directory authenticates with its token, which belongs to one organisation.")]


@router.get("/ServiceProviderConfig", dependencies=_TOKEN)
async def read_provider_config(request: Request, _directory: ConnectedDirectory) -> Response:
    """Return the supported features."""
    return ScimResponse(discovery.provider_config(root_of(request)))


@router.get("/ResourceTypes", dependencies=_TOKEN)
async def list_resource_types(request: Request, _directory: ConnectedDirectory) -> Response:
    """List the resource types."""
    types = discovery.resource_types(root_of(request))
    return list_response(types, total=len(types), start=1)


@router.get("/Schemas", dependencies=_TOKEN)
async def list_schemas(request: Request, _directory: ConnectedDirectory) -> Response:
    """List the attributes of each resource type."""
    documents = discovery.schemas(root_of(request))
    return list_response(documents, total=len(documents), start=1)


@router.get("/ResourceTypes/{name}", dependencies=_TOKEN)
async def read_resource_type(name: str, request: Request, _directory: ConnectedDirectory) -> Response:
    """Return one resource type."""
    return _described(discovery.resource_types(root_of(request)), name, request)


@router.get("/Schemas/{name}", dependencies=_TOKEN)
async def read_schema(name: str, request: Request, _directory: ConnectedDirectory) -> Response:
    """Return the attributes of one resource type."""
    return _described(discovery.schemas(root_of(request)), name, request)


@router.get("/Users", dependencies=_TOKEN)
async def list_users(request: Request, directory: ConnectedDirectory, session: ReadSession) -> Response:
    """List users of the directory that match a filter."""
    listing, selection = listing_of(request), selection_of(request)
    tenant_id = directory.principal.tenant_id
    total, rows = await repository.list_users(session, tenant_id=tenant_id, **_query(listing, USER))
    ids = [row[0].user_id for row in rows]
    groups_by_user = await repository.groups_of(session, ids, tenant_id=tenant_id) if selection.has("groups") else {}
    root = root_of(request)
    resources = [
        selection.of(user_document.resource_of(user, entry, groups_by_user.get(user.id, []), root))
        for entry, user in rows
    ]
    return list_response(resources, total=total, start=listing.start)


@router.post("/Users", dependencies=_TOKEN)
async def create_user(request: Request, directory: ConnectedDirectory, session: WriteSession) -> Response:
    """Create a user, or link the one with that e-mail address."""
    data, selection = user_document.user_data_of(await read_body(request)), selection_of(request)
    principal = await hold(session, directory)
    row = await users.create(session, principal, data)
    return await _user(request, session, principal, row, selection, created=True)


@router.get("/Users/{user_id}", dependencies=_TOKEN)
async def read_user(user_id: str, request: Request, directory: ConnectedDirectory, session: ReadSession) -> Response:
    """Return one user."""
    selection = selection_of(request)
    row = await users.read(session, directory.principal, user_id)
    version = user_document.version_of(row[1], row[0])
    if is_unchanged(request, version):
        return ScimResponse(None, status_code=304, headers={"ETag": version})
    return await _user(request, session, directory.principal, row, selection)


@router.put("/Users/{user_id}", dependencies=_TOKEN)
async def replace_user(
    user_id: str, request: Request, directory: ConnectedDirectory, session: WriteSession
) -> Response:
    """Replace a user. Without `active`, the state does not change."""
    data, selection = user_document.user_data_of(await read_body(request)), selection_of(request)
    principal, row = await _held_user(session, directory, user_id, request)
    row = await users.replace(session, principal, row, data)
    return await _user(request, session, principal, row, selection)


@router.patch("/Users/{user_id}", dependencies=_TOKEN)
async def change_user(user_id: str, request: Request, directory: ConnectedDirectory, session: WriteSession) -> Response:
    """Change a user."""
    operations, selection = patch.operations_of(await read_body(request)), selection_of(request)
    principal, row = await _held_user(session, directory, user_id, request)
    document = user_document.document_of(row[1], row[0])
    patch.apply(document, operations)
    row = await users.replace(session, principal, row, user_document.user_data_of(document))
    return await _user(request, session, principal, row, selection)


@router.delete("/Users/{user_id}", dependencies=_TOKEN)
async def delete_user(user_id: str, request: Request, directory: ConnectedDirectory, session: WriteSession) -> Response:
    """Delete a user: personal data is deleted, history keeps the id."""
    principal, _ = await _held_user(session, directory, user_id, request)
    await users.remove(session, principal, user_id)
    return ScimResponse(None, status_code=204)


@router.get("/Groups", dependencies=_TOKEN)
async def list_groups(request: Request, directory: ConnectedDirectory, session: ReadSession) -> Response:
    """List groups that match a filter."""
    listing, selection = listing_of(request), selection_of(request)
    tenant_id = directory.principal.tenant_id
    total, rows = await repository.list_groups(session, tenant_id=tenant_id, **_query(listing, GROUP))
    ids = [row.id for row in rows]
    members = await repository.members_of(session, ids, tenant_id=tenant_id) if selection.has("members") else {}
    root = root_of(request)
    resources = [selection.of(_group_document(row, members.get(row.id, []), root)) for row in rows]
    return list_response(resources, total=total, start=listing.start)


@router.post("/Groups", dependencies=_TOKEN)
async def create_group(request: Request, directory: ConnectedDirectory, session: WriteSession) -> Response:
    """Create a group."""
    document, selection = await read_body(request), selection_of(request)
    principal = await hold(session, directory)
    group = await groups.create(session, principal, document)
    return await _group(request, session, group, selection, created=True)


@router.get("/Groups/{group_id}", dependencies=_TOKEN)
async def read_group(group_id: str, request: Request, directory: ConnectedDirectory, session: ReadSession) -> Response:
    """Return one group."""
    selection = selection_of(request)
    group = await groups.read(session, directory.principal, group_id)
    if is_unchanged(request, _version(group)):
        return ScimResponse(None, status_code=304, headers={"ETag": _version(group)})
    return await _group(request, session, group, selection)


@router.put("/Groups/{group_id}", dependencies=_TOKEN)
async def replace_group(
    group_id: str, request: Request, directory: ConnectedDirectory, session: WriteSession
) -> Response:
    """Replace a group, including its members."""
    changes, selection = groups.change_of(await read_body(request)), selection_of(request)
    principal, group = await _held_group(session, directory, group_id, request)
    await groups.change(session, principal, group, changes)
    return await _group(request, session, group, selection)


@router.patch("/Groups/{group_id}", dependencies=_TOKEN)
async def change_group(
    group_id: str, request: Request, directory: ConnectedDirectory, session: WriteSession
) -> Response:
    """Change a group; the result is returned when attributes are requested."""
    changes, selection = groups.patched(patch.operations_of(await read_body(request))), selection_of(request)
    principal, group = await _held_group(session, directory, group_id, request)
    await groups.change(session, principal, group, changes)
    if not selection.only:
        return ScimResponse(None, status_code=204, headers={"ETag": _version(group)})
    return await _group(request, session, group, selection)


@router.delete("/Groups/{group_id}", dependencies=_TOKEN)
async def delete_group(
    group_id: str, request: Request, directory: ConnectedDirectory, session: WriteSession
) -> Response:
    """Delete a group and the roles that its members had through it."""
    principal, group = await _held_group(session, directory, group_id, request)
    await groups.remove(session, principal, group)
    return ScimResponse(None, status_code=204)


@router.api_route("/{rest:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"], dependencies=_TOKEN)
async def nothing(request: Request, _directory: ConnectedDirectory) -> Response:
    """Reject every other path, such as /Bulk and /Me, which are not supported."""
    raise ScimAddressUnknown(request.url.path)


def _described(documents: list[dict[str, Any]], name: str, request: Request) -> Response:
    for document in documents:
        if document["id"] == name:
            return ScimResponse(document)
    raise ScimAddressUnknown(request.url.path)


def _query(listing: Listing, attributes: Attributes) -> Mapping[str, Any]:
    """Return the query arguments of a list."""
    conditions = [] if listing.filter is None else [condition_of(parse_filter(listing.filter), attributes)]
    order = []
    if listing.sort_by is not None:
        column = sort_column(listing.sort_by, attributes)
        order = [column.desc() if listing.descending else column.asc()]
    return {"conditions": conditions, "order": order, "offset": listing.start - 1, "limit": listing.count}


async def _held_user(
    session: AsyncSession, directory: ConnectedDirectory, user_id: str, request: Request
) -> tuple[Principal, UserRow]:
    principal = await hold(session, directory)
    row = await users.read(session, principal, user_id)
    require_version(request, user_document.version_of(row[1], row[0]), f"The user {user_id}")
    return principal, row


async def _held_group(
    session: AsyncSession, directory: ConnectedDirectory, group_id: str, request: Request
) -> tuple[Principal, DirectoryGroup]:
    principal = await hold(session, directory)
    group = await groups.read(session, principal, group_id)
    require_version(request, _version(group), f"The group {group_id}")
    return principal, group


async def _user(
    request: Request,
    session: AsyncSession,
    principal: Principal,
    row: UserRow,
    selection: Selection,
    *,
    created: bool = False,
) -> Response:
    entry, user = row[0], row[1]
    groups_by_user = await repository.groups_of(session, [user.id], tenant_id=principal.tenant_id)
    resource = user_document.resource_of(user, entry, groups_by_user.get(user.id, []), root_of(request))
    return _resource(resource, selection, created=created)


async def _group(
    request: Request, session: AsyncSession, group: DirectoryGroup, selection: Selection, *, created: bool = False
) -> Response:
    members: list[tuple[str, str]] = []
    if selection.has("members"):
        members_by_group = await repository.members_of(session, [group.id], tenant_id=group.tenant_id)
        members = members_by_group.get(group.id, [])
    return _resource(_group_document(group, members, root_of(request)), selection, created=created)


def _resource(resource: dict[str, Any], selection: Selection, *, created: bool) -> Response:
    metadata = resource["meta"]
    headers = {"ETag": metadata["version"], "Location": metadata["location"]}
    return ScimResponse(selection.of(resource), status_code=201 if created else 200, headers=headers)


def _group_document(group: DirectoryGroup, members: list[tuple[str, str]], root: str) -> dict[str, Any]:
    location = f"{root}/Groups/{group.id}"
    document = {
        "schemas": [discovery.GROUP_SCHEMA],
        "id": group.id,
        "externalId": group.external_id,
        "displayName": group.name,
        "members": [
            {"value": id_, "display": name, "type": "User", "$ref": f"{root}/Users/{id_}"} for id_, name in members
        ],
        "meta": user_document.meta("Group", group.created_at, group.updated_at, location, _version(group)),
    }
    return {key: value for key, value in document.items() if value is not None}


def _version(group: DirectoryGroup) -> str:
    return f'W/"{group.revision}"'
