"""HTTP routes of model providers and models."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.accounts.ports import Scope
from headgate.features.models import service
from headgate.features.models.catalogue import ModelInfo
from headgate.features.models.classes import LONGEST_NAME, ModelClasses, ModelClassesOut, ModelClassOut
from headgate.features.models.connection import ConnectionOut, record_test, try_provider
from headgate.features.models.service import ProviderStatus
from headgate.foundation.api import ReadSession, Routes, WriteSession, get_database, part
from headgate.foundation.database import Database

router = Routes(tags=["models"])
VIEW, CLASSIFY = needs(Permission.CATALOG_VIEW), needs(Permission.MODELS_CLASSIFY)
KEYS = needs(Permission.VARIABLES_MANAGE)


Classes = Annotated[ModelClasses, part("classes")]
ModelName = Annotated[str, Path(max_length=LONGEST_NAME, description="A model's name, or `*` for all other models.")]


class ModelClassIn(BaseModel):
    """The classification to set for a model."""

    model_config = ConfigDict(extra="forbid")

    level: int | str = Field(
        description="Number or name of a classification, for example 2 or K2.", union_mode="left_to_right"
    )


@router.get("/providers", "List model providers", [VIEW])
async def list_providers(request: Request, caller: Caller) -> list[ProviderStatus]:
    """Every provider: whether it is configured, and if not, what to do. No key is ever shown."""
    return await service.list_providers(
        request.app.state.keys_of(caller, "models"), local=request.app.state.local_models
    )


class ConnectionIn(BaseModel):
    """The connection to test."""

    model_config = ConfigDict(extra="forbid")

    model: str | None = Field(
        default=None,
        min_length=1,
        max_length=LONGEST_NAME,
        description=(
            "A model to test with a one-word prompt. Without it, the list of models is requested, "
            "which costs nothing; a provider without a list is tested with its default model."
        ),
    )


@router.post("/providers/{provider}/test", "Test a model provider", [KEYS], problems=(403, 429))
async def test_provider(
    request: Request,
    database: Annotated[Database, Depends(get_database)],
    provider: str,
    body: ConnectionIn,
    caller: Caller,
) -> ConnectionOut:
    """Call the provider once with what is set for it. A provider that fails is an answer, not an error."""
    await request.app.state.throttle.allow(Scope.PROVIDER_TEST, f"{caller.tenant_id}/{caller.user_id}")
    state = request.app.state
    connection = await try_provider(
        state.keys_of(caller, "test"), web=state.web, provider=provider, model=body.model, local=state.local_models
    )
    async with database.writing() as session:
        await record_test(session, caller, connection)
    return connection


@router.get("/models", "List models", [VIEW])
async def list_models(
    request: Request,
    caller: Caller,
    *,
    provider: Annotated[str | None, Query(max_length=64, description="Only this provider.")] = None,
    refresh: Annotated[
        bool, Query(description="Ask the providers again. Without it, an answer may be up to five minutes old.")
    ] = False,
) -> list[ModelInfo]:
    """List the chat models of each provider with capabilities: those of its server, else the known ones.

    Any other name of a provider's works too.
    """
    keys, local = request.app.state.keys_of(caller, "models"), request.app.state.local_models
    return await service.all_models(keys, local=local, provider=provider, refresh=refresh)


@router.get("/model-classes", "List classifications of models", [VIEW])
async def list_classes(session: ReadSession, caller: Caller, classes: Classes) -> ModelClassesOut:
    """List the classifications, and each model with its own classification."""
    return await classes.show(session, caller)


@router.put("/model-classes/{provider}/{name:path}", "Class a model", [CLASSIFY], problems=(403,))
async def put_class(
    provider: str, name: ModelName, body: ModelClassIn, session: WriteSession, caller: Caller, classes: Classes
) -> ModelClassOut:
    """Set the highest classification of data that a model may receive."""
    return await classes.put(session, caller, provider=provider, name=name, level=body.level)


@router.delete("/model-classes/{provider}/{name:path}", "Unclass a model", [CLASSIFY], problems=(403, 404))
async def delete_class(provider: str, name: ModelName, session: WriteSession, caller: Caller, classes: Classes) -> None:
    """Take the class of a model away; it then has its provider's, or the default."""
    await classes.remove(session, caller, provider=provider, name=name)
