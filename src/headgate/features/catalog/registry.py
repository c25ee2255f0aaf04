"""The component registry: all component classes and their templates."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Protocol
from weakref import WeakKeyDictionary

import orjson
from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.foundation.errors import NotFound
from headgate.graph.model import Flow
from headgate.graph.names import did_you_mean
from headgate.graph.own_code import own_codes
from headgate.graph.template import Catalog, Template
from headgate.sdk import Component

_MOST_VARIANTS = 512
"""Number of cached templates of components whose ports depend on params."""
_PLAIN: WeakKeyDictionary[type[Component], Template] = WeakKeyDictionary()
"""Cached templates without params, by component class: they are the same in every registry."""


class UnknownComponent(NotFound):
    """No component has that type."""

    code = "unknown_component"


class Components(Catalog, Protocol):
    """Templates and component classes."""

    def component(self, type_: str) -> type[Component]:
        """Return the class of a type. Raises `UnknownComponent`."""

    async def for_flow(self, tenant_id: str, flow: Flow, *, session: AsyncSession | None = None) -> "Components":
        """Return the components for a tenant's flow: these, and its own checked custom components.

        Does not query the database when no node has code.
        """

    async def step_model(self, session: AsyncSession, *, tenant_id: str, space_id: str) -> JsonValue:
        """Return the default model for steps of a space, as in a model field; None when there is none."""


class OwnSource(Protocol):
    """Source of custom components."""

    async def over(
        self, base: "Registry", codes: Sequence[str], *, tenant_id: str, session: AsyncSession | None
    ) -> Components:
        """Return the registry with the checked components among these sources."""


class StepModel(Protocol):
    """Source of the default model for steps."""

    async def __call__(self, session: AsyncSession, *, tenant_id: str, space_id: str) -> JsonValue:
        """Return that of a space, as in a model field; None when there is none."""


class Registry:
    """Component classes by type name; a `Components`.

    Templates are derived once per process. When ports depend on a node's params (a Switch has one output per case), the
    templates of the last few hundred params are cached.

    Args:
        components: The classes, read on first use; of two with the same name the first is used. A mapping by name is
            asked for one at a time.
        own: Source of custom components of flows; optional.
        step_model: Source of the default model for steps; optional.
    """

    def __init__(
        self,
        components: Iterable[type[Component]] | Mapping[str, type[Component]],
        own: OwnSource | None = None,
        step_model: StepModel | None = None,
    ) -> None:
        self._components = components
        self._own = own
        self._step_model = step_model
        self._variants: OrderedDict[tuple[str, bytes], Template] = OrderedDict()

    @cached_property
    def _classes(self) -> Mapping[str, type[Component]]:
        if isinstance(self._components, Mapping):
            return self._components
        classes: dict[str, type[Component]] = {}
        for component in self._components:
            classes.setdefault(component.__name__, component)
        return classes

    @cached_property
    def _types(self) -> tuple[str, ...]:
        return tuple(sorted(self._classes))

    def types(self) -> Sequence[str]:
        """Return every known component type, sorted."""
        return self._types

    def template(self, type_: str, params: Mapping[str, JsonValue] | None = None) -> Template | None:
        """Return the template of a type, with the ports that these params give it; None when unknown."""
        component = self._classes.get(type_)
        if component is None:
            return None
        if params and _depends_on_params(component):
            return self._variant(component, params)
        template = _PLAIN.get(component)
        if template is None:
            template = _PLAIN[component] = component.template()
        return template

    def code(self, type_: str) -> str | None:  # noqa: ARG002 - a catalog's signature
        """Return None: registered components are part of the installation."""
        return None

    async def for_flow(self, tenant_id: str, flow: Flow, *, session: AsyncSession | None = None) -> Components:
        """Return these components and the flow's checked custom ones; itself when no node has code."""
        codes = own_codes(flow)
        if self._own is None or not codes:
            return self
        return await self._own.over(self, codes, tenant_id=tenant_id, session=session)

    async def step_model(self, session: AsyncSession, *, tenant_id: str, space_id: str) -> JsonValue:
        """Return the default model for steps of a space, as in a model field; None when there is none."""
        if self._step_model is None:
            return None
        return await self._step_model(session, tenant_id=tenant_id, space_id=space_id)

    def templates(self) -> tuple[Template, ...]:
        """Return every template, sorted by type."""
        return tuple(template for type_ in self._types if (template := self.template(type_)) is not None)

    def component(self, type_: str) -> type[Component]:
        """Return the class of a type. Raises `UnknownComponent` with the nearest one."""
        component = self._classes.get(type_)
        if component is None:
            raise UnknownComponent(
                f"There is no component '{type_}'{did_you_mean(type_, self._types) or '.'}",
                remedy="Search the components, or list them with `headgate components`.",
            )
        return component

    def _variant(self, component: type[Component], params: Mapping[str, JsonValue]) -> Template:
        key = (component.__name__, orjson.dumps(dict(params), option=orjson.OPT_SORT_KEYS))
        template = self._variants.get(key)
        if template is None:
            template = component.template(params)
            self._variants[key] = template
            if len(self._variants) > _MOST_VARIANTS:
                self._variants.popitem(last=False)
        else:
            self._variants.move_to_end(key)
        return template


def _depends_on_params(component: type[Component]) -> bool:
    """Return whether the class depends on params: ports, or an effect like that of HTTPRequest's method."""
    deciding = ("extra_fields", "extra_outputs", "template")
    return any(getattr(component, name).__func__ is not getattr(Component, name).__func__ for name in deciding)
