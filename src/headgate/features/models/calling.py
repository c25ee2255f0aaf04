"""What each call of a model begins with: its checked parameters, and what its errors name."""

from headgate.features.models.credentials import Credentials
from headgate.features.models.diagnosis import Caller
from headgate.features.models.params import ModelParams
from headgate.features.models.ports import GuardedWeb
from headgate.features.models.providers import Provider
from headgate.features.models.setup.values import ModelRole
from headgate.sdk.values import Model


async def checked_params(model: Model, provider: Provider, web: GuardedWeb) -> ModelParams:
    """Return the parameters of a model. Raises `BadModelSettings`, and why the flow's address may not be called."""
    params = ModelParams.parse(model.params, provider=provider, api_key=model.api_key)
    if params.base_url is not None:
        await web.check(params.base_url)
    return params


def caller_of(
    model: Model, provider: Provider, credentials: Credentials, params: ModelParams, role: ModelRole | None = None
) -> Caller:
    """Return what the errors of a call name. The address only where a user chose it."""
    return Caller(
        model=f"{provider.id}/{model.name}",
        provider=provider.label,
        key_variable=credentials.key_variable,
        base_url=credentials.base_url if provider.flow_base_url or provider.server is not None else "",
        timeout_seconds=params.timeout_seconds or provider.timeout_seconds,
        server=provider.server is not None,
        role=role,
    )
