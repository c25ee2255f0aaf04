"""Modules that are imported when something of them is first used.

A module that only some commands or requests need is named twice, so that type checkers and the layers' check see an
ordinary import, and a start does not pay for it:

    if TYPE_CHECKING:
        from headgate.features.flows import versions
    else:
        versions = lazy_module("headgate.features.flows.versions")
"""

from importlib import import_module
from types import ModuleType
from typing import Any


class _LazyModule(ModuleType):
    """Stands for a module until one of its names is read; keeps nothing, so that a replaced name is seen."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the module has
        return getattr(import_module(self.__name__), name)


def lazy_module(name: str) -> ModuleType:
    """The module of that dotted name, imported when one of its names is first read."""
    return _LazyModule(name)
