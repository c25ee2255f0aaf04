"""Models of roles: set in Settings, else by a variable, else the first that is ready."""

from collections.abc import Mapping
from types import MappingProxyType

from headgate.features.models.setup.values import OFFLINE, ModelRole, RoleChoice
from headgate.foundation.settings import CodevSettings, ModelSettings
from headgate.foundation.settings.models import ModelParameters
from headgate.sdk.values import Model

INHERITS: Mapping[ModelRole, tuple[ModelRole, ...]] = MappingProxyType(
    {
        ModelRole.DEFAULT: (ModelRole.DEFAULT,),
        ModelRole.ASSISTANT: (ModelRole.ASSISTANT, ModelRole.DEFAULT),
        ModelRole.CODEV: (ModelRole.CODEV, ModelRole.ASSISTANT, ModelRole.DEFAULT),
        ModelRole.STEP: (ModelRole.STEP, ModelRole.DEFAULT),
        ModelRole.FALLBACK: (ModelRole.FALLBACK,),
    }
)
"""Roles in whose order a model is looked for: a role without a choice uses the next one's."""
LONG = frozenset({ModelRole.ASSISTANT, ModelRole.CODEV})
"""Roles whose conversations a local model of Headgate's own cannot hold: it is never chosen for them by itself."""


def variable_of(role: ModelRole) -> str:
    """Return the variable of the environment that sets a role's model."""
    return "HEADGATE_CODEV__MODEL" if role is ModelRole.CODEV else f"HEADGATE_MODELS__{role.upper()}"


def timeout_variable(role: ModelRole) -> str:
    """Return the variable that sets how long the model of a role may take."""
    return f"HEADGATE_MODELS__{role.upper()}_PARAMS__TIMEOUT_SECONDS"


def environment_roles(models: ModelSettings, codev: CodevSettings) -> Mapping[ModelRole, RoleChoice]:
    """Return the roles set in the environment."""
    named: Mapping[ModelRole, tuple[str, ModelParameters]] = {
        ModelRole.DEFAULT: (models.default, models.default_params),
        ModelRole.ASSISTANT: (models.assistant, models.assistant_params),
        ModelRole.CODEV: (codev.model, models.codev_params),
        ModelRole.STEP: (models.step, models.step_params),
    }
    choices = {
        role: RoleChoice(
            (_parsed(name),) if name else (), variable_of(role) if name else "", params.model_dump(exclude_none=True)
        )
        for role, (name, params) in named.items()
    }
    fallback = tuple(_parsed(name) for name in models.fallback if name)
    choices[ModelRole.FALLBACK] = RoleChoice(fallback, variable_of(ModelRole.FALLBACK) if fallback else "")
    return MappingProxyType({role: choice for role, choice in choices.items() if choice.models or choice.params})


def _parsed(name: str) -> Model:
    return OFFLINE if name == OFFLINE.name else Model.model_validate(name)
