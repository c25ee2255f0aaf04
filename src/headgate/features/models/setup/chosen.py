"""The model set for a role, in Settings or by a variable. Pure: readiness is not checked."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from headgate.features.models.params import accepted_params
from headgate.features.models.providers import find_provider, known_provider
from headgate.features.models.setup.roles import INHERITS
from headgate.features.models.setup.values import OFFLINE, ModelRole, ModelSetup
from headgate.foundation.errors import HeadgateError
from headgate.graph.secret_reference import MOST_FALLBACKS
from headgate.sdk.values import Model

FIRST_READY = "first_ready"
"""Source of a model that nobody chose: the first of the first provider that is ready."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The model of a role."""

    model: Model
    """With its parameters."""
    source: str
    """Source of the choice: `settings`, the name of a variable, or `first_ready`."""


def chosen_model(role: ModelRole, setup: ModelSetup) -> Choice | None:
    """Return the model set for a role or for one that it inherits from; None when there is none."""
    for inherited in INHERITS[role]:
        choice = setup.roles.get(inherited)
        if choice is None or not choice.models or (choice.models[0] == OFFLINE and role is not ModelRole.ASSISTANT):
            continue
        model = choice.models[0]
        return Choice(model if model == OFFLINE else params_of_role(model, role, setup), choice.source)
    return None


def default_step_model(setup: ModelSetup) -> JsonValue:
    """The model of steps that name none with the chosen fallback models, as a model field holds it; None without."""
    choice = chosen_model(ModelRole.STEP, setup)
    if choice is None:
        return None
    chain = setup.roles.get(ModelRole.FALLBACK)
    following = [
        params_of_role(model, ModelRole.STEP, setup)
        for model in (chain.models if chain is not None else ())
        if str(model) != str(choice.model)
    ]
    model = choice.model.model_copy(update={"fallback": tuple(following[:MOST_FALLBACKS])})
    plain = not (model.params or model.api_key or model.fallback)
    return str(model) if plain else model.model_dump(mode="json", exclude_defaults=True)


def params_of_role(model: Model, role: ModelRole, setup: ModelSetup) -> Model:
    """Return the model with the parameters of its role; its own have precedence."""
    try:
        provider = known_provider(model.provider) or find_provider(model.provider, setup.servers)
    except HeadgateError:  # an unknown provider is reported when the model is called
        return model
    accepted = accepted_params(provider)
    usual = {name: value for name, value in _usual_params(role, setup).items() if name in accepted}
    return model.model_copy(update={"params": {**usual, **model.params}})


def _usual_params(role: ModelRole, setup: ModelSetup) -> Mapping[str, JsonValue]:
    params: dict[str, JsonValue] = {}
    for inherited in reversed(INHERITS[role]):
        choice = setup.roles.get(inherited)
        params |= choice.params if choice is not None else {}
    return params
