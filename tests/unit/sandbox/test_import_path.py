import os
import sys
import types
from pathlib import Path

import pytest

from headgate.sandbox.guest.import_path import open_to_others, reroute


@pytest.fixture
def hidden(tmp_path: Path) -> Path:
    """A folder of modules behind a folder that others cannot pass."""
    folder = tmp_path / "private" / "lib"
    folder.mkdir(parents=True)
    (folder / "rerouted_module.py").write_text("answer = 42\n")
    (tmp_path / "private").chmod(0o700)
    return folder


class TestOpenToOthers:
    def test_is_so_for_the_root_folder(self) -> None:
        assert open_to_others(Path("/"))

    def test_is_not_so_behind_a_closed_folder(self, hidden: Path) -> None:
        assert not open_to_others(hidden)

    def test_does_not_mind_what_does_not_exist(self, tmp_path: Path) -> None:
        assert open_to_others(tmp_path / "nothing")


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors as paths are Linux's")
class TestReroute:
    def test_imports_by_descriptor_what_lies_behind_a_closed_folder(
        self, hidden: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        package = types.ModuleType("rerouted_package")
        package.__path__ = [str(hidden / "inside")]
        monkeypatch.setattr(sys, "path", [*sys.path, str(hidden)])
        monkeypatch.setitem(sys.modules, "rerouted_package", package)
        (descriptor,) = reroute([str(hidden)])
        try:
            assert sys.path[-1] == f"/proc/self/fd/{descriptor}"
            assert list(package.__path__) == [f"/proc/self/fd/{descriptor}/inside"]
            module = __import__("rerouted_module")
            assert module.answer == 42
        finally:
            sys.modules.pop("rerouted_module", None)
            sys.path_importer_cache.clear()
            os.close(descriptor)

    def test_leaves_alone_what_can_be_reached(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "path", ["/usr"])
        assert reroute(["/usr"]) == ()
        assert sys.path == ["/usr"]
