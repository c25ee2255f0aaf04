"""The packs beside the core pass their own tests, and need no private door."""

import ast
from pathlib import Path

import pytest

from headgate.features.packs.archive import read_pack
from headgate.features.packs.building import build_pack
from tests.support.cli import answered

ROOT = Path(__file__).parents[2] / "packs"
PACKS = sorted(path.name for path in ROOT.iterdir() if path.is_dir())


def test_there_are_three() -> None:
    assert PACKS == ["number-checks", "service-connections", "text-review"]


@pytest.mark.parametrize("name", PACKS)
def test_it_passes_its_own_tests(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path))
    outcome = answered(capsys, "packs", "test", str(ROOT / name))
    assert outcome["failures"] == []
    assert outcome["cases"] > 0 or not (ROOT / name / "components").exists()


@pytest.mark.parametrize("name", PACKS)
def test_it_imports_nothing_of_headgate_but_the_sdk(name: str) -> None:
    for code in read_pack(build_pack(ROOT / name)[1]).texts("components").values():
        for node in ast.walk(ast.parse(code)):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or "."] if isinstance(node, ast.ImportFrom) else []
            for module in modules:
                assert not module.startswith("headgate") or module == "headgate.sdk"


@pytest.mark.parametrize("name", PACKS)
def test_every_text_of_its_components_and_templates_is_swedish_too(name: str) -> None:
    pack = read_pack(build_pack(ROOT / name)[1])
    words = pack.files["translations/sv.json"]
    for text in (pack.manifest.title, pack.manifest.description):
        assert f'"{text}"' in words
    for code in pack.texts("components").values():
        (component,) = (node for node in ast.parse(code).body if isinstance(node, ast.ClassDef))
        assert f'"{ast.get_docstring(component)}"' in words
