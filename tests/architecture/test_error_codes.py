"""The error codes that a retry may name, in the flow language and on the page, are those of errors that steps meet."""

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module

import pytest

from headgate.foundation.errors import HeadgateError
from headgate.graph.error_codes import ERROR_CODES
from tests.architecture.source import ROOT

pytestmark = pytest.mark.xdist_group("source")

PAGE = ROOT / "web/src/components/policy/errorCodes.ts"
PACKAGES = (
    *("components", "foundation", "graph", "sandbox", "sdk", "features.connections", "features.encryption"),
    *("features.files", "features.flows.state", "features.knowledge", "features.mcptools", "features.models"),
    *("features.runs", "features.secrets", "features.workspace"),
)
"""What runs in a step."""
NOT_IN_STEPS = ("headgate.sandbox.guest", "headgate.foundation.migrations", "headgate.features.runs.chat")


def _modules() -> Iterator[str]:
    for package in PACKAGES:
        module = import_module(f"headgate.{package}")
        yield module.__name__
        for entry in pkgutil.walk_packages(module.__path__, f"{module.__name__}."):
            if not entry.name.startswith(NOT_IN_STEPS) and not entry.name.endswith("__main__"):
                yield entry.name


def _errors(error: type[HeadgateError]) -> Iterator[type[HeadgateError]]:
    yield error
    for below in error.__subclasses__():
        yield from _errors(below)


def _codes() -> set[str]:
    modules = {import_module(name).__name__ for name in _modules()}
    return {error.code for error in _errors(HeadgateError) if error.__module__ in modules}


class TestErrorCodes:
    def test_are_those_of_the_packages_that_steps_run(self) -> None:
        assert set(ERROR_CODES) == _codes(), "Correct ERROR_CODES in headgate/graph/error_codes.py."
        assert list(ERROR_CODES) == sorted(set(ERROR_CODES))

    def test_are_the_same_on_the_page(self) -> None:
        assert re.findall(r'"(\w+)"', PAGE.read_text(encoding="utf-8")) == list(ERROR_CODES)
