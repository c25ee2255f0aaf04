"""The registry as a flow or a request sees it: the built-in components, and own ones beside them. Built-ins win."""

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
    """A `registry.Components` over a registry and own components; a value, never changed.

    Args:
        base: The built-in components and those that the operator installed.
        own: Own components; one whose name is taken by a built-in one is left out (seed 000, ADR-MCP-025).
    """

    def __init__(self, base: Registry, own: Iterable[CheckedComponent] = ()) -> None:
        taken = frozenset(base.types())
        self.base = base
        self.own: Mapping[str, CheckedComponent] = {one.type: one for one in own if one.type not in taken}
        self._classes: dict[str, type[Component]] = {}

    def types(self) -> Sequence[str]:
        """Every known type, sorted."""
        return sorted((*self.base.types(), *self.own)) if self.own else self.base.types()

    def template(self, type_: str, params: Mapping[str, JsonValue] | None = None) -> Template | None:
        """The template of a type; None when unknown. The ports of own components do not depend on params."""
        found = self.own.get(type_)
        return found.template if found is not None else self.base.template(type_, params)

    def code(self, type_: str) -> str | None:
        """The source of an own component; None for others."""
        found = self.own.get(type_)
        return found.code if found is not None else None

    def component(self, type_: str) -> type[Component]:
        """The class of a type: of an own component one that works in the sandbox. Raises `UnknownComponent`."""
        found = self.own.get(type_)
        if found is None:
            return self.base.component(type_)
        if type_ not in self._classes:
            self._classes[type_] = component_class(found)
        return self._classes[type_]

    async def for_flow(self, tenant_id: str, flow: Flow, *, session: AsyncSession | None = None) -> Components:
        """What that flow may be made of: the code that it carries itself counts, not what else is known here."""
        return await self.base.for_flow(tenant_id, flow, session=session)

    async def step_model(self, session: AsyncSession, *, tenant_id: str, space_id: str) -> JsonValue:
        """The default model for steps of a space, as a model field holds it; None where none is chosen."""
        return await self.base.step_model(session, tenant_id=tenant_id, space_id=space_id)


class Overlay(FlowCatalog):
    """What a request may build with: searched like the registry.

    Args:
        base: The built-in components and those that the operator installed.
        index: The search index over `base`.
        own: Own components of the person who asks, and those of the flow.
    """

    def __init__(self, base: Registry, index: "searching.WordIndex", own: Iterable[CheckedComponent] = ()) -> None:
        super().__init__(base, own)
        self.index = index

    def with_own(self, *more: CheckedComponent) -> "Overlay":
        """The same with further own components; a later one takes the place of an earlier one of its name."""
        return Overlay(self.base, self.index, (*self.own.values(), *more))

    def search(self, query: str, *, most: int = 8) -> list[Template]:
        """The components a query is about, best first."""
        matches = self.index.search(query, most=most)
        if self.own:
            matches = sorted((*matches, *self._own_index.search(query, most=most)), key=lambda one: -one.score)[:most]
        return [found for match in matches if (found := self.template(match.key)) is not None]

    def strange_words(self, query: str) -> tuple[list[str], int]:
        """The words of a query that no component is about, and how many words are looked for."""
        strange = self.index.strange_words(query)
        if self.own and strange:
            own = set(self._own_index.strange_words(query))
            strange = [word for word in strange if word in own]
        return strange, len(self.index.sought_words(query))

    @cached_property
    def _own_index(self) -> "searching.WordIndex":
        return searching.WordIndex({one.type: searching.template_texts(one.template) for one in self.own.values()})
