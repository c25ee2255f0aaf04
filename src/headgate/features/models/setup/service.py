"""Servers, facts and roles: set, list, remove. Each change is recorded in the audit log."""

import re
from collections.abc import Mapping, Sequence

from pydantic import SecretStr, ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import require_space, spaces_shown
from headgate.features.audit.recorder import record
from headgate.features.models import repository
from headgate.features.models.errors import BadModelServer, BadModelSettings, ModelServerNotFound, NotSetUp
from headgate.features.models.params import ModelParams
from headgate.features.models.ports import KeySource
from headgate.features.models.providers import known_provider
from headgate.features.models.service import provider_of
from headgate.features.models.setup.schemas import ModelServerIn, RoleIn, RoleModelIn, as_facts
from headgate.features.models.setup.sealed import Sealed, Secret, unseal
from headgate.features.models.setup.values import OFFLINE, ModelFacts, ModelRole
from headgate.features.models.tables import ModelFactsRow, ModelServerRow
from headgate.features.secrets.service import origin_of
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import now
from headgate.foundation.guarded_http import parse_target
from headgate.foundation.guarded_http.headers import check_headers
from headgate.graph.secret_reference import SecretReference
from headgate.sdk.values import Model

MAX_SERVERS = 50
"""Of one organisation or space."""
MAX_FACTS = 2000
_MAX_HEADERS = 32
_LONGEST = 4096
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)


async def put_server(
    session: AsyncSession,
    principal: Principal,
    box: SecretBox,
    *,
    name: str,
    server: ModelServerIn,
    space_id: str | None = None,
    organisation: bool = False,
) -> ModelServerRow:
    """Set a server of a space, by default the caller's, or of the organisation. Nothing is sent to it.

    Raises `SpaceNotFound`, `PermissionMissing`, `BadModelServer`, `BadUrl`, `HeaderRefused`.
    """
    owner = await _owner(session, principal, space_id, organisation=organisation)
    _check_name(name)
    address = _checked_address(server.address)
    row = await repository.find_server(session, name, tenant_id=principal.tenant_id, space_id=owner)
    if row is None:
        known = await repository.list_servers(
            session, tenant_id=principal.tenant_id, space_ids=set() if owner is None else {owner}
        )
        if sum(server_row.space_id == owner for server_row in known) >= MAX_SERVERS:
            raise BadModelServer(f"There are already {MAX_SERVERS} model servers.", remedy="Remove one first.")
    before = _described(row)
    sealed = _sealed(name, server, address, row, box)
    saved = await repository.save_server(
        session,
        name,
        tenant_id=principal.tenant_id,
        space_id=owner,
        values={
            "kind": server.kind,
            "address": address,
            "sealed": sealed.seal(box),
            "secret_names": sealed.names,
            "updated_at": now(),
        },
    )
    after = _described(saved)
    await record(
        session,
        principal,
        "model_server.set",
        id=name,
        name=name,
        space_id=owner,
        before=before,
        after=after,
        payload=after,
    )
    return saved


async def list_servers(
    session: AsyncSession, principal: Principal, *, space_id: str | None = None
) -> Sequence[ModelServerRow]:
    """Servers of the organisation and of the spaces that the caller sees, or of one. Raises `SpaceNotFound`."""
    shown = await spaces_shown(session, principal, space_id, Permission.VARIABLES_VIEW)
    return await repository.list_servers(session, tenant_id=principal.tenant_id, space_ids=shown)


async def delete_server(
    session: AsyncSession,
    principal: Principal,
    *,
    name: str,
    space_id: str | None = None,
    organisation: bool = False,
) -> None:
    """Remove a server. Raises `SpaceNotFound`, `PermissionMissing`, `ModelServerNotFound`."""
    owner = await _owner(session, principal, space_id, organisation=organisation)
    row = await repository.find_server(session, name[:64], tenant_id=principal.tenant_id, space_id=owner)
    before = _described(row)
    if row is None or not await repository.delete_server(session, name, tenant_id=principal.tenant_id, space_id=owner):
        raise ModelServerNotFound(name)
    await record(session, principal, "model_server.removed", id=name, name=name, space_id=owner, before=before)


async def require_manager(session: AsyncSession, principal: Principal) -> None:
    """Raise `PermissionMissing` unless the caller may change the servers of the space that they work in."""
    await _owner(session, principal, None, organisation=False)


async def put_facts(
    session: AsyncSession, principal: Principal, keys: KeySource, *, provider: str, name: str, facts: ModelFacts
) -> ModelFactsRow:
    """Set name, capabilities and costs of a model, or hide it; a model that no list has is added.

    Raises `PermissionMissing`, `UnknownProvider`, `BadModelSettings`.
    """
    principal.require(Permission.MODELS_MANAGE)
    owner = (await provider_of(provider, keys)).id
    if not name.strip() or len(name) > 200 or not name.isprintable():
        raise BadModelSettings(
            "A model's name has 1 to 200 characters.", remedy=("Write the name as listed by its server.")
        )
    row = await repository.find_facts(session, tenant_id=principal.tenant_id, provider=owner, name=name)
    if row is None and len(await repository.list_facts(session, tenant_id=principal.tenant_id)) >= MAX_FACTS:
        raise BadModelSettings(f"{MAX_FACTS} models are already described.", remedy="Reset some of them first.")
    before = None if row is None else row.facts
    after = as_facts(facts.model_dump())
    saved = await repository.put_facts(session, tenant_id=principal.tenant_id, provider=owner, name=name, facts=after)
    model = f"{owner}/{name}"
    await record(session, principal, "model.described", id=model, name=model, before=before, after=after, payload=after)
    return saved


async def delete_facts(session: AsyncSession, principal: Principal, *, provider: str, name: str) -> None:
    """Delete the facts about a model; an added model is removed. Raises `NotSetUp`."""
    principal.require(Permission.MODELS_MANAGE)
    known = known_provider(provider)
    owner = provider if known is None else known.id
    row = await repository.find_facts(session, tenant_id=principal.tenant_id, provider=owner[:64], name=name)
    model = f"{owner}/{name}"
    if row is None:
        raise NotSetUp(f"There are no settings for the model {model[:200]}.")
    before = row.facts
    await repository.delete_facts(session, tenant_id=principal.tenant_id, provider=owner, name=name)
    await record(session, principal, "model.reset", id=model, name=model, before=before)


async def put_role(
    session: AsyncSession, principal: Principal, keys: KeySource, *, role: ModelRole, choice: RoleIn
) -> None:
    """Choose the models of a role. Raises `PermissionMissing`, `UnknownProvider`, `BadModelSettings`."""
    principal.require(Permission.MODELS_MANAGE)
    if role is not ModelRole.FALLBACK and len(choice.models) != 1:
        raise BadModelSettings(
            f"The role '{role}' takes one model.", remedy="Put the other models in the role 'fallback', in order."
        )
    models = [(await _checked_model(role, role_model, keys)).model_dump(mode="json") for role_model in choice.models]
    row = await repository.find_role(session, tenant_id=principal.tenant_id, role=role)
    before = None if row is None else row.models
    await repository.put_role(session, tenant_id=principal.tenant_id, role=role, models=models)
    await record(
        session,
        principal,
        "model_role.set",
        id=role,
        name=role,
        before=before,
        after=models,
        payload={"models": models},
    )


async def delete_role(session: AsyncSession, principal: Principal, *, role: ModelRole) -> None:
    """Leave a role to its variable or to the role it inherits from. Raises `PermissionMissing`, `NotSetUp`."""
    principal.require(Permission.MODELS_MANAGE)
    row = await repository.find_role(session, tenant_id=principal.tenant_id, role=role)
    if row is None:
        raise NotSetUp(f"No model is chosen in Settings for the role '{role}'.")
    before = row.models
    await repository.delete_role(session, tenant_id=principal.tenant_id, role=role)
    await record(session, principal, "model_role.removed", id=role, name=role, before=before)


async def _checked_model(role: ModelRole, choice: RoleModelIn, keys: KeySource) -> Model:
    if choice.model.strip() in {OFFLINE.name, str(OFFLINE)}:
        if role is not ModelRole.ASSISTANT:
            raise BadModelSettings("Only the assistant supports offline mode.", remedy="Choose a language model.")
        return OFFLINE
    try:
        model = Model.model_validate(choice.model.strip())
    except ValidationError:
        raise BadModelSettings(
            f"'{choice.model[:100]}' is not the name of a model.", remedy="Write it as provider/name or server/name."
        ) from None
    provider = await provider_of(model.provider, keys)
    ModelParams.parse(choice.params, provider=provider)
    params = {name: value for name, value in choice.params.items() if value is not None}
    return Model(provider=provider.id, name=model.name, params=params)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise BadModelServer(
            f"{name[:70]!r} is not a valid name of a model server.",
            remedy="Use at most 64 lower-case letters, digits, - and _, starting with a letter.",
        )
    if known_provider(name) is not None or name == OFFLINE.provider:
        raise BadModelServer(
            f"'{name}' is the name of a model provider.", remedy=(f"Choose another name, such as my-{name}.")
        )


def _checked_address(address: str) -> str:
    """Return an address of a server without a trailing slash. Raises `BadUrl`, `BadModelServer`."""
    target = parse_target(address.strip())
    if "?" in target.url or "#" in target.url:
        raise BadModelServer(
            "The URL of a model server must not have a query.", remedy="Send keys as the key or as a header."
        )
    return target.url.rstrip("/")


def _sealed(name: str, server: ModelServerIn, address: str, row: ModelServerRow | None, box: SecretBox) -> Sealed:
    """Return the key and headers to store. Omitted ones stay while the server's address is unchanged."""
    stored = unseal(box, row.sealed) if row is not None else Sealed()
    same_server = row is not None and origin_of(row.address) == origin_of(address)
    if not same_server and stored.names and (server.key is None or server.headers is None):
        raise BadModelServer(
            f"The key and headers of '{name}' were stored for another URL.",
            remedy="Send them again with the new URL, or send none: an empty key and headers {}.",
        )
    key = stored.key if server.key is None else _plain(server.key)
    headers = stored.headers if server.headers is None else _checked_headers(name, server.headers)
    if isinstance(key, str) and len(key) > _LONGEST:
        raise BadModelServer(f"The key of '{name}' is longer than {_LONGEST} characters.")
    return Sealed(key or None, headers)


def _checked_headers(name: str, headers: Mapping[str, SecretStr | SecretReference]) -> dict[str, Secret]:
    plain = {header: _plain(value) for header, value in headers.items()}
    if len(plain) > _MAX_HEADERS or any(isinstance(value, str) and len(value) > _LONGEST for value in plain.values()):
        raise BadModelServer(f"The server '{name}' has too many or too long headers.")
    check_headers({header: value if isinstance(value, str) else "" for header, value in plain.items()})
    return plain


def _plain(value: SecretStr | SecretReference) -> Secret:
    return value if isinstance(value, SecretReference) else value.get_secret_value()


def _described(row: ModelServerRow | None) -> dict[str, object] | None:
    """Return a server's values for the audit log: never its key or the value of a header."""
    if row is None:
        return None
    return {
        "name": row.name,
        "space_id": row.space_id,
        "kind": row.kind,
        "address": row.address,
        "secret_names": list(row.secret_names),
    }


async def _owner(
    session: AsyncSession, principal: Principal, space_id: str | None, *, organisation: bool
) -> str | None:
    """Return the space whose servers the caller may change; None for the organisation."""
    if organisation:
        principal.require(Permission.VARIABLES_MANAGE)
        return None
    space = principal.space_id if space_id is None else space_id
    await require_space(session, principal, space, Permission.SPACE_VARIABLES_MANAGE)
    return space
