"""Components that the operator installed: packages beside Headgate that name theirs under an entry point.

A package says `[project.entry-points."headgate.components"]` and a line `acme = "acme.headgate"`: a module, a class or
a list of classes. They run in the server's own process, as built-in ones do: whoever installs a package trusts it.
"""

import inspect
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
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
    """What the packages beside Headgate bring."""

    components: tuple[type[Component], ...]
    faults: tuple[str, ...]
    """What was left out, and why: a sentence each, for people."""


class _Unfit(Exception):
    """An entry point brings something that is no component."""


def full_registry(own: OwnSource | None = None, step_model: StepModel | None = None) -> Registry:
    """The built-in components and the installed ones, loaded by the first use. What is broken is logged and omitted.

    Args:
        own: Where own components of flows are known.
        step_model: Where the default model for steps is chosen.
    """
    return Registry(_AllComponents(), own, step_model)


class _AllComponents:
    """Imports the built-in and the installed components when they are iterated over."""

    def __iter__(self) -> Iterator[type[Component]]:
        installed = installed_components()
        for fault in installed.faults:
            log.warning("Installed components: %s", fault)
        yield from (*builtin.BUILTINS, *installed.components)


@cache
def installed_components() -> Installed:
    """What is installed; looked for once a process."""
    return load_installed(entry_points(group=GROUP), {component.__name__ for component in builtin.BUILTINS})


def load_installed(points: Iterable[EntryPoint], taken: Collection[str]) -> Installed:
    """Load what entry points name. Nothing that is wrong with one keeps the others away.

    Args:
        points: The entry points.
        taken: Names of components that are there already; they win.
    """
    found: dict[str, type[Component]] = {}
    faults: list[str] = []
    for point in sorted(points, key=lambda one: (one.name, one.value)):
        try:
            for component in _components_of(point.load()):
                _require_fit(component)
                name = component.__name__
                if name in taken or name in found:
                    faults.append(f"{_named(point)}: {name} is left out: there is a component of that name already.")
                else:
                    found[name] = component
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a package does, the server starts
            faults.append(f"{_named(point)} cannot be loaded: {type(error).__name__}: {shortened(str(error), 500)}")
    return Installed(tuple(found.values()), tuple(faults))


def _components_of(loaded: object) -> Iterator[type[Component]]:
    """The classes of a module (those that it defines itself), of a list, or the class itself. Raises `_Unfit`."""
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
    for one in loaded if isinstance(loaded, list | tuple) else (loaded,):
        if not inspect.isclass(one) or not issubclass(one, Component):
            raise _Unfit(f"{one!r} is no component class")
        yield one


def _require_fit(component: type[Component]) -> None:
    """Raise what is wrong with a class: its name, its fields, its outputs."""
    if not re.match(TYPE_PATTERN, component.__name__):
        raise _Unfit(f"'{component.__name__}' is no name for a component: a capital letter first, letters and digits")
    component.template()


def _named(point: EntryPoint) -> str:
    package = point.dist.name if point.dist is not None else "a package"
    return f"{package} ({point.name} = {point.value})"
