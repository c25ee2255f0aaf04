"""The security class of each model, as a tenant sets it, and the rules that follow for flows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.audit.actions import Action
from headgate.features.audit.recorder import record
from headgate.features.models import repository
from headgate.features.models.errors import ClassUnknown, NotClassed
from headgate.features.models.providers import LOCAL, find_provider
from headgate.foundation.database import Database
from headgate.foundation.settings import ClassificationSettings
from headgate.graph.classification import Classified, ModelRef, Observed, Scheme, classify
from headgate.graph.model import Flow
from headgate.graph.names import listed
from headgate.graph.template import Catalog

OTHERS = "*"
"""Placeholder for a provider's models without their own classification."""
LONGEST_NAME = 200


class Components(Protocol):
    """Source of the templates of a tenant's flow."""

    async def for_flow(self, tenant_id: str, flow: Flow) -> Catalog:
        """Return the components of the flow, including custom ones."""


class ModelClassOut(BaseModel):
    """The class of a model, or of a provider's other models."""

    provider: str
    name: str
    """A model's name, or `*`."""
    level: int
    class_name: str


class ModelClassesOut(BaseModel):
    """The classes of an installation, and what a tenant set."""

    enabled: bool
    """Whether classes are checked. When they are not, they may be set already."""
    levels: list[str]
    """Names of the classes, class 0 first."""
    external_max: int
    default_level: int
    """Class of a model that nothing below speaks of."""
    items: list[ModelClassOut]


class ModelClasses:
    """Classes of models, on one installation's settings.

    Args:
        database: Where they are kept.
        settings: The classes there are.
        catalog: Components, to follow the classes along flows.
    """

    def __init__(self, database: Database, settings: ClassificationSettings, catalog: Components) -> None:
        self._database = database
        self._settings = settings
        self._catalog = catalog
        self._scheme = Scheme(tuple(settings.levels), settings.external_max, settings.input_level)

    @property
    def scheme(self) -> Scheme:
        """The classes there are."""
        return self._scheme

    @property
    def enforced(self) -> Scheme | None:
        """The classes there are, None while nothing is checked."""
        return self._scheme if self.enabled else None

    @property
    def enabled(self) -> bool:
        """Whether anything is checked."""
        return self._settings.enabled

    async def of_tenant(self, tenant_id: str, session: AsyncSession | None = None) -> "TenantClasses":
        """Return the tenant's current settings."""
        if session is None:
            async with self._database.reading() as own:
                return await self.of_tenant(tenant_id, own)
        rows = await repository.list_classes(session, tenant_id=tenant_id)
        return TenantClasses({(row.provider, row.name): row.level for row in rows}, self._settings)

    async def classify(self, tenant_id: str, flow: Flow, observed: Observed | None = None) -> Classified:
        """Return the classes along a flow; of a run with what was observed in it."""
        catalog = await self._catalog.for_flow(tenant_id, flow)
        return classify(flow, catalog, self.scheme, (await self.of_tenant(tenant_id)).of, observed)

    async def show(self, session: AsyncSession, principal: Principal) -> ModelClassesOut:
        """Return everything that decides a model's class."""
        rows = await repository.list_classes(session, tenant_id=principal.tenant_id)
        return ModelClassesOut(
            enabled=self.enabled,
            levels=list(self.scheme.names),
            external_max=self.scheme.external_max,
            default_level=self._settings.default_model_level,
            items=[self._out(row.provider, row.name, row.level) for row in rows],
        )

    async def put(
        self, session: AsyncSession, principal: Principal, *, provider: str, name: str, level: int | str
    ) -> ModelClassOut:
        """Class a model, or with the name `*` a provider's others. Raises `UnknownProvider`, `ClassUnknown`."""
        key, name = find_provider(provider).id, _checked_name(name)
        checked_level = self._level(level)
        row = await repository.find_class(session, tenant_id=principal.tenant_id, provider=key, name=name)
        before = None if row is None else row.level
        await repository.put_class(session, tenant_id=principal.tenant_id, provider=key, name=name, level=checked_level)
        await _record(session, principal, "model_class.set", f"{key}/{name}", before=before, after=checked_level)
        return self._out(key, name, checked_level)

    async def remove(self, session: AsyncSession, principal: Principal, *, provider: str, name: str) -> None:
        """Take a class away. Raises `NotClassed`."""
        key = find_provider(provider).id
        row = await repository.find_class(session, tenant_id=principal.tenant_id, provider=key, name=name)
        if row is None:
            raise NotClassed(key, name)
        before = row.level
        await repository.delete_class(session, tenant_id=principal.tenant_id, provider=key, name=name)
        await _record(session, principal, "model_class.removed", f"{key}/{name}", before=before, after=None)

    def _level(self, level: int | str) -> int:
        """Return a class by number, by name, or by the first word of its name (`K2`)."""
        names = self.scheme.names
        text = str(level).strip().lower()
        for number, name in enumerate(names):
            if text in {str(number), name.lower(), name.lower().split()[0]}:
                return number
        raise ClassUnknown(
            f"There is no classification '{level}'.",
            remedy=f"Classes: {listed([f'{number} ({name})' for number, name in enumerate(names)])}.",
        )

    def _out(self, provider: str, name: str, level: int) -> ModelClassOut:
        return ModelClassOut(provider=provider, name=name, level=level, class_name=self.scheme.name(level))


@dataclass(frozen=True, slots=True)
class TenantClasses:
    """The classes that one tenant set."""

    levels: Mapping[tuple[str, str], int]
    settings: ClassificationSettings

    def of(self, model: ModelRef) -> int:
        """Return the class of a model: its own, else its provider's `*`, else the default.

        A local model that nobody classed may see everything: nothing leaves. A model at an address that the flow gives
        is not the server that was classed: it has the default class.
        """
        if model.own_address:
            return self.settings.default_model_level
        for name in (model.name, OTHERS):
            if (model.provider, name) in self.levels:
                return self.levels[model.provider, name]
        if model.provider == LOCAL:
            local = self.settings.local_model_level
            return len(self.settings.levels) - 1 if local is None else local
        return self.settings.default_model_level


async def _record(
    session: AsyncSession, principal: Principal, action: Action, model: str, *, before: int | None, after: int | None
) -> None:
    await record(
        session,
        principal,
        action,
        id=model,
        name=model,
        before=before,
        after=after,
        payload={"level": after},
    )


def _checked_name(name: str) -> str:
    if not name.strip() or len(name) > LONGEST_NAME or "\x00" in name:
        raise ClassUnknown(
            "A model's name has 1 to 200 characters.", remedy="Write provider/name, or provider/* for all other models."
        )
    return name.strip()
