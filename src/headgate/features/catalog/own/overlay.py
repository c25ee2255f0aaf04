"""The component registry with custom components of a flow or a request. Built-in components have precedence."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.runtime import component_class
from headgate.features.catalog.registry import Components, Registry
from headgate.foundation.lazy import lazy_module
from headgate.graph.model import Flow
from headgate.graph.template import Template
from headgate.sdk import Component

if TYPE_CHECKING:
    from headgate.features.catalog import search as searching
else:
    searching = lazy_module("headgate.features.catalog.search")


class FlowCatalog:
    """A `registry.Components` over a registry and custom components; immutable.

    Args:
        base: The built-in and installed components.
        own: Custom components; those with the name of a built-in one are skipped (seed 000, ADR-MCP-025).
    """

    def __init__(self, base: Registry, own: Iterable[CheckedComponent] = ()) -> None:
        built_in = frozenset(base.types())
        self.base = base
        self.own: Mapping[str, CheckedComponent] = {
            component.type: component for component in own if component.type not in built_in
        }
        self._classes: dict[str, type[Component]] = {}

    def types(self) -> Sequence[str]:
        """Return every known type, sorted."""
        return sorted((*self.base.types(), *self.own)) if self.own else self.base.types()

    def template(self, type_: str, params: Mapping[str, JsonValue] | None = None) -> Template | None:
        """Return the template of a type; None when unknown. The ports of custom components do not depend on params."""
        component = self.own.get(type_)
        return component.template if component is not None else self.base.template(type_, params)

    def code(self, type_: str) -> str | None:
        """Return the source of a custom component; None for others."""
        component = self.own.get(type_)
        return component.code if component is not None else None

    def component(self, type_: str) -> type[Component]:
        """Return the class of a type; that of a custom component runs in the sandbox. Raises `UnknownComponent`."""
        component = self.own.get(type_)
        if component is None:
            return self.base.component(type_)
        if type_ not in self._classes:
            self._classes[type_] = component_class(component)
        return self._classes[type_]

    async def for_flow(self, tenant_id: str, flow: Flow, *, session: AsyncSession | None = None) -> Components:
        """Return the components for that flow: includes code in its nodes, but no other custom components."""
        return await self.base.for_flow(tenant_id, flow, session=session)

    async def step_model(self, session: AsyncSession, *, tenant_id: str, space_id: str) -> JsonValue:
        """Return the default model for steps of a space, as in a model field; None when there is none."""
        return await self.base.step_model(session, tenant_id=tenant_id, space_id=space_id)


class Overlay(FlowCatalog):
    """The components available to a request, searchable like the registry.

    Args:
        base: The built-in and installed components.
        index: The search index over `base`.
        own: Custom components of the caller and of the flow.
    """

    def __init__(self, base: Registry, index: "searching.WordIndex", own: Iterable[CheckedComponent] = ()) -> None:
        super().__init__(base, own)
        self.index = index

    def with_own(self, *more: CheckedComponent) -> "Overlay":
        """Return a copy with additional custom components; later ones replace earlier ones with the same name."""
        return Overlay(self.base, self.index, (*self.own.values(), *more))

    def search(self, query: str, *, most: int = 8) -> list[Template]:
        """Return components that match a query, best first."""
        matches = self.index.search(query, most=most)
        if self.own:
            matches = sorted((*matches, *self._own_index.search(query, most=most)), key=lambda match: -match.score)[
                :most
            ]
        return [template for match in matches if (template := self.template(match.key)) is not None]

    def strange_words(self, query: str) -> tuple[list[str], int]:
        """Return the words of a query that match no component, and the number of searched words."""
        strange = self.index.strange_words(query)
        if self.own and strange:
            own = set(self._own_index.strange_words(query))
            strange = [term for term in strange if term in own]
        return strange, len(self.index.sought_words(query))

    @cached_property
    def _own_index(self) -> "searching.WordIndex":
        return searching.WordIndex(
            {component.type: searching.template_texts(component.template) for component in self.own.values()},
            background=self.index,
        )
