"""Trusted functions on own code, for the sandbox's tests; the zygote imports this by its bare name."""

import inspect
import sys
import types
from typing import Any

from headgate.sdk import Component
from headgate.sdk.coerce import text_of


def component_of(module: types.ModuleType) -> type[Component]:
    """The component that the code defines."""
    for member in vars(module).values():
        if inspect.isclass(member) and issubclass(member, Component) and member.__module__ == module.__name__:
            return member
    raise LookupError("the code defines no component")


def describe(module: types.ModuleType, arguments: dict[str, Any]) -> Any:
    """The template, as JSON."""
    return component_of(module).template(arguments).model_dump(mode="json")


async def produce(module: types.ModuleType, arguments: dict[str, Any]) -> Any:
    """One output's value, as text."""
    return text_of(await component_of(module).create(arguments["values"]).produce(arguments["output"]))


def loaded(module: types.ModuleType, arguments: dict[str, Any]) -> list[str]:
    """The platform's modules that the worker finds loaded."""
    return sorted(name for name in sys.modules if name.partition(".")[0] == "headgate")


def give(module: types.ModuleType, arguments: dict[str, Any]) -> Any:
    """What the code's own `run` gives, as it is."""
    return module.run(arguments.get("inputs"))
