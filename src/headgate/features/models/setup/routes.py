"""HTTP routes of what is set up for models: servers, facts, roles, local models."""

import asyncio
from typing import Annotated

from fastapi import Depends, Path, Query, Request

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.accounts.ports import Scope
from headgate.features.audit.recorder import record
from headgate.features.models import readiness
from headgate.features.models.catalogue import ModelInfo
from headgate.features.models.listing import check_address
from headgate.features.models.local.fetching import Fetch, LocalFetches
from headgate.features.models.local.store import LocalModel
from headgate.features.models.local.weights import find_weights
from headgate.features.models.service import all_models
from headgate.features.models.setup import service
from headgate.features.models.setup.facts import known_of
from headgate.features.models.setup.presets import PRESETS
from headgate.features.models.setup.schemas import (
    LocalModelOut,
    ModelServerIn,
    ModelServerOut,
    ModelServersOut,
    PresetOut,
    RoleIn,
    RolesOut,
    ServerTestIn,
    ServerTestOut,
)
from headgate.features.models.setup.space import SpaceModels
from headgate.features.models.setup.testing import try_server
from headgate.features.models.setup.values import ModelFacts, ModelRole
from headgate.foundation.api import ReadSession, Routes, WriteSession, get_database, part
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.shaped import shaped
from headgate.sdk.values import Model

router = Routes(tags=["models"])
VIEW, SEE = needs(Permission.CATALOG_VIEW), needs(Permission.VARIABLES_VIEW)
MANAGE, DESCRIBE = needs(Permission.SPACE_VARIABLES_MANAGE), needs(Permission.MODELS_MANAGE)
InSpace = Annotated[str | None, Query(description="Id of the space; default: your own.")]
ForAll = Annotated[bool, Query(description="Whether it belongs to the organisation and applies to every space.")]
ServerName = Annotated[str, Path(max_length=64)]
ModelName = Annotated[str, Path(max_length=200, description="The model's name as listed by its server.")]


def _keys(request: Request, caller: Caller) -> SpaceModels:
    keys: SpaceModels = request.app.state.keys_of(caller, "models")
    return keys


Box = Annotated[SecretBox, part("box")]
Keys = Annotated[SpaceModels, Depends(_keys)]
Fetches = Annotated[LocalFetches, part("local_fetches")]


@router.get("/model-servers", "List model servers", [SEE])
async def list_servers(session: ReadSession, caller: Caller) -> ModelServersOut:
    """The model servers of the organisation and of the spaces you see, and the kinds of servers there are."""
    rows = await service.list_servers(session, caller)
    return ModelServersOut(
        items=[ModelServerOut.model_validate(row) for row in rows],
        presets=[PresetOut.model_validate(preset) for preset in PRESETS],
    )


@router.put("/model-servers/{name}", "Set a model server", [MANAGE], problems=(403, 404))
async def put_server(
    name: ServerName,
    body: ModelServerIn,
    session: WriteSession,
    caller: Caller,
    box: Box,
    keys: Keys,
    *,
    space_id: InSpace = None,
    organisation: ForAll = False,
) -> ModelServerOut:
    """Connect a server that you run or rent: its models are `NAME/model` everywhere. One of that name is replaced."""
    await check_address(body.address, keys.open_networks)
    row = await service.put_server(
        session, caller, box, name=name, server=body, space_id=space_id, organisation=organisation
    )
    return ModelServerOut.model_validate(row)


@router.delete("/model-servers/{name}", "Remove a model server", [MANAGE], problems=(403, 404))
async def delete_server(
    name: ServerName,
    session: WriteSession,
    caller: Caller,
    *,
    space_id: InSpace = None,
    organisation: ForAll = False,
) -> None:
    """Remove a model server; steps that name its models no longer run."""
    await service.delete_server(session, caller, name=name, space_id=space_id, organisation=organisation)


@router.post("/model-servers/{name}/test", "Test a model server", [MANAGE], problems=(403, 404, 429))
async def test_server(
    request: Request,
    database: Annotated[Database, Depends(get_database)],
    name: ServerName,
    body: ServerTestIn,
    caller: Caller,
) -> ServerTestOut:
    """Request the server's models, and one word from one of them. A failing server is a result, not an error."""
    async with database.reading() as session:
        await service.require_manager(session, caller)
    state = request.app.state
    await state.throttle.allow(Scope.PROVIDER_TEST, f"{caller.tenant_id}/{caller.user_id}")
    result = await try_server(
        state.keys_of(caller, "test"), web=state.web, name=name, model=body.model, local=state.local_models
    )
    async with database.writing() as session:
        outcome = {"ok": result.ok, "code": result.code, "model": result.model}
        await record(session, caller, "provider.tested", id=name, name=name, payload=outcome)
    return result


@router.get("/model-facts", "List models, including hidden ones", [VIEW])
async def list_facts(
    request: Request, keys: Keys, provider: Annotated[str | None, Query(max_length=64)] = None
) -> list[ModelInfo]:
    """List every offered or hidden model, with the organisation's facts."""
    return await all_models(keys, local=request.app.state.local_models, provider=provider, hidden=True)


@router.put("/model-facts/{provider}/{name:path}", "Add, describe, price or hide a model", [DESCRIBE], problems=(403,))
async def put_facts(
    provider: Annotated[str, Path(max_length=64)],
    name: ModelName,
    body: ModelFacts,
    session: WriteSession,
    caller: Caller,
    keys: Keys,
) -> ModelInfo:
    """Set name, capabilities and costs of a model. Replaces earlier facts; a model of no list is added."""
    row = await service.put_facts(session, caller, keys, provider=provider, name=name, facts=body)
    await session.flush()
    setup = await keys.setup()
    facts = {**setup.facts, (row.provider, row.name): body}
    return known_of(Model(provider=row.provider, name=row.name), setup.with_facts(facts))


@router.delete(
    "/model-facts/{provider}/{name:path}", "Delete the description of a model", [DESCRIBE], problems=(403, 404)
)
async def delete_facts(
    provider: Annotated[str, Path(max_length=64)], name: ModelName, session: WriteSession, caller: Caller
) -> None:
    """Reset a model to the facts of the catalogue and the server; an added model is removed."""
    await service.delete_facts(session, caller, provider=provider, name=name)


@router.get("/model-roles", "List the models of roles", [VIEW])
async def list_roles(request: Request, keys: Keys) -> RolesOut:
    """List the default models of roles, their sources, and whether they are ready."""
    survey = await readiness.survey(keys, local=request.app.state.local_models)
    return RolesOut(items=survey.roles)


@router.put("/model-roles/{role}", "Choose the model of a role", [DESCRIBE], problems=(403,))
async def put_role(
    request: Request,
    role: ModelRole,
    body: RoleIn,
    database: Annotated[Database, Depends(get_database)],
    caller: Caller,
    keys: Keys,
) -> RolesOut:
    """Choose the default model, that of the assistant, the development agent or steps, or the fallback chain."""
    async with database.writing() as session:
        await service.put_role(session, caller, keys, role=role, choice=body)
    return await list_roles(request, _keys(request, caller))


@router.delete("/model-roles/{role}", "Reset a role to its default", [DESCRIBE], problems=(403, 404))
async def delete_role(role: ModelRole, session: WriteSession, caller: Caller) -> None:
    """Remove the choice; the variable of the environment applies again, or the role it inherits from."""
    await service.delete_role(session, caller, role=role)


@router.get("/local-models", "List local models", [VIEW])
async def list_local(fetches: Fetches) -> list[LocalModelOut]:
    """List local models: those on this machine, and those that can be downloaded, with progress."""
    return await asyncio.to_thread(_local_models, fetches)


@router.post("/local-models/{name}/fetch", "Download a local model", [DESCRIBE], status_code=202, problems=(403, 404))
async def fetch_local(
    name: Annotated[str, Path(max_length=100)],
    fetches: Fetches,
    database: Annotated[Database, Depends(get_database)],
    caller: Caller,
) -> list[LocalModelOut]:
    """Download the weights in the background, verified by SHA-256. A stopped download is resumed."""
    find_weights(name)
    async with database.writing() as session:  # nothing is downloaded without an audit entry
        await record(session, caller, "model.fetched", id=f"local/{name}", name=f"local/{name}")
    fetches.start(name)
    return await asyncio.to_thread(_local_models, fetches)


@router.delete("/local-models/{name}/fetch", "Stop the download of a local model", [DESCRIBE], problems=(403,))
async def stop_local(
    name: Annotated[str, Path(max_length=100)], fetches: Fetches, session: WriteSession, caller: Caller
) -> None:
    """Stop the download; the downloaded part is kept for resuming."""
    if fetches.cancel(name):
        await record(session, caller, "model.fetch_stopped", id=f"local/{name}", name=f"local/{name}")


def _local_models(fetches: LocalFetches) -> list[LocalModelOut]:
    return [_local_model(model, fetches.find(model.name)) for model in fetches.list_models()]


def _local_model(model: LocalModel, fetch: Fetch | None) -> LocalModelOut:
    running = fetch is not None and fetch.running
    done = max(model.partial, fetch.done) if fetch is not None and running else model.partial
    return shaped(
        LocalModelOut,
        model,
        done=model.size if model.ready else done,
        fetching=running,
        detail=fetch.detail if fetch is not None else "",
        remedy=fetch.remedy if fetch is not None else "",
        failed=fetch is not None and fetch.failed and not model.ready,
    )
