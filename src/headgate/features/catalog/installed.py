"""Components installed by the operator: packages that declare them under an entry point.

A package declares `[project.entry-points."headgate.components"]` and a line `acme = "acme.headgate"`: a module, a class
or a list of classes. They run in the server's process, like built-in ones: installing a package means trusting it.
"""

import inspect
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import TYPE_CHECKING, Final

from headgate.features.catalog.registry import OwnSource, Registry, StepModel
from headgate.foundation.lazy import lazy_module
from headgate.foundation.log import get_logger
from headgate.foundation.quoting import shortened
from headgate.graph.model import TYPE_PATTERN
from headgate.sdk import Component

if TYPE_CHECKING:
    from headgate import components as builtin
else:
    builtin = lazy_module("headgate.components")

GROUP: Final = "headgate.components"
log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Installed:
    """Components of installed packages."""

    components: tuple[type[Component], ...]
    faults: tuple[str, ...]
    """Skipped entry points and reasons, one sentence each."""


class _Unfit(Exception):
    """An entry point is not a valid component."""


def full_registry(own: OwnSource | None = None, step_model: StepModel | None = None) -> Registry:
    """Return the built-in and the installed components, loaded on first use. Invalid ones are logged and skipped.

    Args:
        own: Source of custom components of flows.
        step_model: Source of the default model for steps.
    """
    return Registry(_AllComponents(), own, step_model)


class _AllComponents(Mapping[str, type[Component]]):
    """The built-in and the installed components by name, each imported on first use."""

    def __getitem__(self, type_: str) -> type[Component]:
        return builtin.component(type_) if type_ in builtin.MODULES else self._installed[type_]

    def __iter__(self) -> Iterator[str]:
        yield from (*builtin.MODULES, *self._installed)

    def __len__(self) -> int:
        return len(builtin.MODULES) + len(self._installed)

    @cached_property
    def _installed(self) -> dict[str, type[Component]]:
        installed = installed_components()
        for fault in installed.faults:
            log.warning("Installed components: %s", fault)
        return {component.__name__: component for component in installed.components}


@cache
def installed_components() -> Installed:
    """Return installed components; searched once per process."""
    return load_installed(entry_points(group=GROUP), builtin.MODULES)


def load_installed(points: Iterable[EntryPoint], reserved: Collection[str]) -> Installed:
    """Load entry points. An invalid one does not affect the others.

    Args:
        points: The entry points.
        reserved: Names of existing components; these have precedence.
    """
    components: dict[str, type[Component]] = {}
    faults: list[str] = []
    for point in sorted(points, key=lambda entry_point: (entry_point.name, entry_point.value)):
        try:
            for component in _components_of(point.load()):
                _require_fit(component)
                name = component.__name__
                if name in reserved or name in components:
                    faults.append(f"{_named(point)}: {name} was skipped: a component of that name already exists.")
                else:
                    components[name] = component
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a package does, the server starts
            faults.append(f"{_named(point)} cannot be loaded: {type(error).__name__}: {shortened(str(error), 500)}")
    return Installed(tuple(components.values()), tuple(faults))


def _components_of(loaded: object) -> Iterator[type[Component]]:
    """Return the classes that a module defines, those of a list, or the class itself. Raises `_Unfit`."""
    if isinstance(loaded, ModuleType):
        classes = [
            value
            for value in vars(loaded).values()
            if inspect.isclass(value) and issubclass(value, Component) and value.__module__ == loaded.__name__
        ]
        if not classes:
            raise _Unfit("the module defines no component")
        yield from classes
        return
    for item in loaded if isinstance(loaded, list | tuple) else (loaded,):
        if not inspect.isclass(item) or not issubclass(item, Component):
            raise _Unfit(f"{item!r} is not a component class")
        yield item


def _require_fit(component: type[Component]) -> None:
    """Raise a fault of a class: its name, its fields, its outputs."""
    if not re.match(TYPE_PATTERN, component.__name__):
        raise _Unfit(
            f"'{component.__name__}' is not a valid component name: start with a capital letter, use letters and digits"
        )
    component.template()


def _named(point: EntryPoint) -> str:
    package = point.dist.name if point.dist is not None else "a package"
    return f"{package} ({point.name} = {point.value})"
