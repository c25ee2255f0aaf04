"""HTTP routes of model providers and models."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from headgate.features.accounts.principal import Caller
from headgate.features.models import catalogue, service
from headgate.features.models.catalogue import ModelInfo
from headgate.features.models.providers import find_provider
from headgate.features.models.service import ProviderStatus
from headgate.foundation.api import problems

router = APIRouter(tags=["models"])


@router.get("/providers", summary="List model providers", responses=problems())
async def list_providers(request: Request, caller: Caller) -> list[ProviderStatus]:
    """Every provider: whether it is configured, and if not, what to do. No key is ever shown."""
    return await service.list_providers(request.app.state.keys_of(caller), local=request.app.state.local_models)


@router.get("/models", summary="List models", responses=problems())
async def list_models(
    provider: Annotated[str | None, Query(max_length=64, description="Only this provider's.")] = None,
) -> list[ModelInfo]:
    """Known models with what they can do. Any other name of a provider's works too."""
    return catalogue.list_models(find_provider(provider).id if provider is not None else None)
