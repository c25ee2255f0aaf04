"""Chat models that are asked outside of runs, with the keys of a space."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headgate.entrypoints.installation import Installation
from headgate.features.access.principal import Principal
from headgate.features.models import service
from headgate.features.models.asking import Asked
from headgate.features.models.ports import GuardedWeb
from headgate.features.secrets.reads import Purpose
from headgate.foundation.lazy import lazy_module
from headgate.graph.classification import model_ref
from headgate.sdk import Model

if TYPE_CHECKING:  # named without importing LangChain
    from langchain_core import messages
else:
    messages = lazy_module("langchain_core.messages")


@dataclass(frozen=True, slots=True)
class SpaceAsker:
    """See `models.asking.Asker`."""

    installation: Installation
    web: GuardedWeb
    purpose: Purpose

    async def ask(self, principal: Principal, model: str, *, system: str, text: str) -> Asked:
        """Ask a model, in one span; calls and tokens are counted in the metrics of models."""
        asked = Model.model_validate(model)
        keys = self.installation.keys_of(principal, self.purpose)
        telemetry = self.installation.telemetry
        with telemetry.traces.span(f"chat {asked.name}", {"gen_ai.request.model": asked.name}, kind="client"):
            chat = await service.create_chat_model(asked, keys, local=self.installation.local_models, web=self.web)
            answer = await chat.ainvoke([messages.SystemMessage(system), messages.HumanMessage(text)])
        used = answer.usage_metadata
        tokens = (None, None) if used is None else (used["input_tokens"], used["output_tokens"])
        telemetry.metrics.model_called(asked.provider, *tokens)
        return Asked(str(answer.text), sum(number or 0 for number in tokens))

    async def clearance(self, tenant_id: str, model: str) -> int | None:
        """Return the classification of a model; None when classifications are disabled."""
        return await clearance_of(self.installation, tenant_id, model)


async def clearance_of(installation: Installation, tenant_id: str, model: str) -> int | None:
    """Return the classification of a model in a tenant; None when classifications are disabled."""
    classes, ref = installation.classes, model_ref(model)
    if not classes.enabled or ref is None:
        return None
    return (await classes.of_tenant(tenant_id)).of(ref)
