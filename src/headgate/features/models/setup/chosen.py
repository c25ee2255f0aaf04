"""The model that is chosen for a role, in Settings or by a variable. Pure: nothing is asked whether it is ready."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from headgate.features.models.params import accepted_params
from headgate.features.models.providers import find_provider, known_provider
from headgate.features.models.setup.roles import INHERITS
from headgate.features.models.setup.values import OFFLINE, ModelRole, ModelSetup
from headgate.foundation.errors import HeadgateError
from headgate.sdk.values import Model

FIRST_READY = "first_ready"
"""Source of a model that nobody chose: the first of the first provider that is ready."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The model of a role."""

    model: Model
    """With its parameters."""
    source: str
    """Where it was chosen: `settings`, the name of a variable, or `first_ready`."""


def chosen_model(role: ModelRole, setup: ModelSetup) -> Choice | None:
    """The model that is chosen for a role or for one that it inherits from; None where none is."""
    for wanted in INHERITS[role]:
        choice = setup.roles.get(wanted)
        if choice is None or not choice.models or (choice.models[0] == OFFLINE and role is not ModelRole.ASSISTANT):
            continue
        model = choice.models[0]
        return Choice(model if model == OFFLINE else params_of_role(model, role, setup), choice.source)
    return None


def default_step_model(setup: ModelSetup) -> JsonValue:
    """The model of steps that name none, as a model field holds it; None where none is chosen."""
    choice = chosen_model(ModelRole.STEP, setup)
    if choice is None:
        return None
    model = choice.model
    return model.model_dump(mode="json", exclude_defaults=True) if model.params or model.api_key else str(model)


def params_of_role(model: Model, role: ModelRole, setup: ModelSetup) -> Model:
    """The model with the parameters of its role; its own come first."""
    try:
        provider = known_provider(model.provider) or find_provider(model.provider, setup.servers)
    except HeadgateError:  # an unknown provider is reported when the model is asked
        return model
    accepted = accepted_params(provider)
    usual = {name: value for name, value in _usual_params(role, setup).items() if name in accepted}
    return model.model_copy(update={"params": {**usual, **model.params}})


def _usual_params(role: ModelRole, setup: ModelSetup) -> Mapping[str, JsonValue]:
    params: dict[str, JsonValue] = {}
    for wanted in reversed(INHERITS[role]):
        choice = setup.roles.get(wanted)
        params |= choice.params if choice is not None else {}
    return params
