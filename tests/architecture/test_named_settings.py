"""Every setting that a text of the product names exists in the reference of settings."""

import ast
import re
from pathlib import Path

import pytest

from headgate.features.models.setup.roles import timeout_variable, variable_of
from headgate.features.models.setup.values import ModelRole
from headgate.foundation.settings.page import known_variables
from tests.architecture.source import tree

pytestmark = pytest.mark.xdist_group("source")

SOURCE = Path(__file__).parents[2] / "src" / "headgate"
_NAME = re.compile(r"\bHEADGATE_[A-Z0-9_]*[A-Z0-9]\b(?!\*)(?!_)")


def named_settings() -> dict[str, str]:
    """Each name in a text of the source, with a file that has it."""
    names: dict[str, str] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                names |= dict.fromkeys(_NAME.findall(node.value), str(path.relative_to(SOURCE)))
    return names


class TestNamedSettings:
    def test_exist(self) -> None:
        known = known_variables()
        missing = {
            name: where
            for name, where in named_settings().items()
            if name not in known and not any(one.startswith(f"{name}__") for one in known)
        }
        assert missing == {}

    @pytest.mark.parametrize("role", [role for role in ModelRole if role is not ModelRole.FALLBACK])
    def test_of_a_role_exist(self, role: ModelRole) -> None:
        assert {variable_of(role), timeout_variable(role)} <= known_variables()
