"""Modules that are imported on first use.

A module that only some commands or requests need is declared twice: type checkers and the layer check see an ordinary
import, and the start of the process does not load it:

    if TYPE_CHECKING:
        from headgate.features.flows import versions
    else:
        versions = lazy_module("headgate.features.flows.versions")
"""

from importlib import import_module
from types import ModuleType
from typing import Any


class _LazyModule(ModuleType):
    """Imports the module on each attribute access and caches nothing, so that a patched attribute is visible."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute
        return getattr(import_module(self.__name__), name)


def lazy_module(name: str) -> ModuleType:
    """Return the module with that dotted name, imported when one of its attributes is first read."""
    return _LazyModule(name)
