"""The registry: every component class Headgate knows, and their templates."""

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
"""Templates kept of components whose ports depend on a node's params."""
_PLAIN: WeakKeyDictionary[type[Component], Template] = WeakKeyDictionary()
"""Templates without params, by component, for as long as that is there: they are the same in every registry."""


class UnknownComponent(NotFound):
    """No component of that type."""

    code = "unknown_component"
    title = "Unknown component"


class Components(Catalog, Protocol):
    """Templates, and the classes behind them."""

    def component(self, type_: str) -> type[Component]:
        """The class of a type. Raises `UnknownComponent`."""
        ...

    async def for_flow(self, tenant_id: str, flow: Flow, *, session: AsyncSession | None = None) -> "Components":
        """What a tenant's flow may be made of: these, and its own components that were checked.

        Asks nothing of the database where no node has code of its own.
        """
        ...

    async def step_model(self, session: AsyncSession, *, tenant_id: str, space_id: str) -> JsonValue:
        """The default model for steps of a space, as a model field holds it; None where none is chosen."""
        ...


class OwnSource(Protocol):
    """Where own components are known."""

    async def over(
        self, base: "Registry", codes: Sequence[str], *, tenant_id: str, session: AsyncSession | None
    ) -> Components:
        """The registry with those of these sources that are known beside its components."""
        ...


class StepModel(Protocol):
    """Where the default model for steps is chosen."""

    async def __call__(self, session: AsyncSession, *, tenant_id: str, space_id: str) -> JsonValue:
        """That of a space, as a model field holds it; None where none is chosen."""
        ...


class Registry:
    """Component classes by type name; a `Components`.

    Templates are derived once a process. Where ports depend on a node's params (a Switch has one output a case) the
    templates of the last few hundred params are kept.

    Args:
        components: The classes, read by the first use; of two with one name the first is taken.
        own: Where own components of flows are known; without it none is.
        step_model: Where the default model for steps is chosen; without it there is none.
    """

    def __init__(
        self,
        components: Iterable[type[Component]],
        own: OwnSource | None = None,
        step_model: StepModel | None = None,
    ) -> None:
        self._components = components
        self._own = own
        self._step_model = step_model
        self._variants: OrderedDict[tuple[str, bytes], Template] = OrderedDict()

    @cached_property
    def _classes(self) -> dict[str, type[Component]]:
        found: dict[str, type[Component]] = {}
        for component in self._components:
            found.setdefault(component.__name__, component)
        return found

    @cached_property
    def _types(self) -> tuple[str, ...]:
        return tuple(sorted(self._classes))

    def types(self) -> Sequence[str]:
        """Every known component type, sorted."""
        return self._types

    def template(self, type_: str, params: Mapping[str, JsonValue] | None = None) -> Template | None:
        """The template of a type, with the ports that these params give it; None when unknown."""
        component = self._classes.get(type_)
        if component is None:
            return None
        if params and _depends_on_params(component):
            return self._variant(component, params)
        found = _PLAIN.get(component)
        if found is None:
            found = _PLAIN[component] = component.template()
        return found

    def code(self, type_: str) -> str | None:  # noqa: ARG002 - a catalog's signature
        """None: what is registered here came with the installation."""
        return None

    async def for_flow(self, tenant_id: str, flow: Flow, *, session: AsyncSession | None = None) -> Components:
        """These components, and beside them the flow's own ones that were checked; itself where no node has code."""
        codes = own_codes(flow)
        if self._own is None or not codes:
            return self
        return await self._own.over(self, codes, tenant_id=tenant_id, session=session)

    async def step_model(self, session: AsyncSession, *, tenant_id: str, space_id: str) -> JsonValue:
        """The default model for steps of a space, as a model field holds it; None where none is chosen."""
        if self._step_model is None:
            return None
        return await self._step_model(session, tenant_id=tenant_id, space_id=space_id)

    def templates(self) -> tuple[Template, ...]:
        """Every template, sorted by type."""
        return tuple(template for type_ in self._types if (template := self.template(type_)) is not None)

    def component(self, type_: str) -> type[Component]:
        """The class of a type. Raises `UnknownComponent` naming the nearest."""
        found = self._classes.get(type_)
        if found is None:
            raise UnknownComponent(
                f"There is no component '{type_}'{did_you_mean(type_, self._types) or '.'}",
                remedy="Search the components, or list them with `headgate components`.",
            )
        return found

    def _variant(self, component: type[Component], params: Mapping[str, JsonValue]) -> Template:
        key = (component.__name__, orjson.dumps(dict(params), option=orjson.OPT_SORT_KEYS))
        found = self._variants.get(key)
        if found is None:
            found = component.template(params)
            self._variants[key] = found
            if len(self._variants) > _MOST_VARIANTS:
                self._variants.popitem(last=False)
        else:
            self._variants.move_to_end(key)
        return found


def _depends_on_params(component: type[Component]) -> bool:
    """Whether the class says anything of its own about params: ports, or an effect as HTTPRequest's method makes it."""
    deciding = ("extra_fields", "extra_outputs", "template")
    return any(getattr(component, name).__func__ is not getattr(Component, name).__func__ for name in deciding)
