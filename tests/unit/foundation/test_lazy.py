"""A lazy module is imported when one of its names is read, and not before."""

import subprocess
import sys

import pytest

from headgate.foundation.lazy import lazy_module

PROBE = """
import sys
from headgate.foundation.lazy import lazy_module
colors = lazy_module("colorsys")
assert "colorsys" not in sys.modules
assert colors.rgb_to_hsv(0, 0, 0) == (0.0, 0.0, 0)
assert "colorsys" in sys.modules
"""


class TestLazyModule:
    def test_is_imported_by_the_first_name_that_is_read(self) -> None:
        subprocess.run([sys.executable, "-c", PROBE], check=True)

    def test_reads_a_name_that_was_replaced(self, monkeypatch: pytest.MonkeyPatch) -> None:
        module = lazy_module("colorsys")
        monkeypatch.setattr("colorsys.ONE_THIRD", "replaced")
        assert module.ONE_THIRD == "replaced"

    def test_names_what_is_missing(self) -> None:
        with pytest.raises(AttributeError, match="colorsys"):
            assert lazy_module("colorsys").nothing
        with pytest.raises(ModuleNotFoundError, match="no_such_module"):
            assert lazy_module("headgate.no_such_module").anything
