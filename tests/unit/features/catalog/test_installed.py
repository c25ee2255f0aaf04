"""Components of packages that are installed beside Headgate: real packages on the import path."""

import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest

from headgate.features.catalog.installed import GROUP, Installed, load_installed

SHOUT = '''
from headgate.sdk import Component, Text, field, output


class Shout(Component):
    """Says it louder."""

    text: str = field()

    @output()
    def loud(self) -> Text:
        return self.text.upper()


class Whisper(Shout):
    """Says it softer."""
'''


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, points: str, **modules: str) -> None:
    """A distribution with these modules and entry points."""
    about = folder / "acme-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n")
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(source)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(folder))


def found(*taken: str) -> Installed:
    return load_installed(entry_points(group=GROUP), taken)


class TestLoadInstalled:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("acme_words", ["Shout", "Whisper"]),
            ("acme_words:Whisper", ["Whisper"]),
            ("acme_words:CHOSEN", ["Whisper", "Shout"]),
        ],
    )
    def test_takes_a_module_a_class_or_a_list(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, expected: list[str]
    ) -> None:
        install(tmp_path, monkeypatch, f"words = {value}", acme_words=SHOUT + "\nCHOSEN = [Whisper, Shout]\n")
        assert [one.__name__ for one in found().components] == expected

    def test_keeps_what_is_sound_when_something_is_broken(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        points = (
            "words = acme_words\nmissing = acme_nowhere\nraises = acme_raises\nends = acme_ends\n"
            "nothing = acme_empty\nnumber = acme_empty:x\nvague = acme_vague"
        )
        install(
            tmp_path,
            monkeypatch,
            points,
            acme_words=SHOUT,
            acme_raises="raise RuntimeError('no licence')",
            acme_ends="raise SystemExit(3)",
            acme_empty="x = 1",
            acme_vague="from headgate.sdk import *\nfrom headgate.sdk import Component, output\n"
            "class Vague(Component):\n    @output()\n    def x(self):\n        return 1\n",
        )
        result = found()
        assert [one.__name__ for one in result.components] == ["Shout", "Whisper"]
        said = "\n".join(result.faults)
        for expected in ("no licence", "SystemExit", "No module named", "defines no component", "annotate the return"):
            assert expected in said
        assert "1 is not a component class" in said
        assert all(fault.startswith("acme (") for fault in result.faults)

    def test_lets_built_in_components_win(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        install(tmp_path, monkeypatch, "words = acme_words", acme_words=SHOUT)
        result = found("Shout")
        assert [one.__name__ for one in result.components] == ["Whisper"]
        assert "Shout was skipped" in result.faults[0]

    def test_takes_the_first_of_two_with_one_name(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        install(tmp_path, monkeypatch, "", acme_words=SHOUT)
        points = [EntryPoint(name, "acme_words:Shout", GROUP) for name in ("b", "a")]
        result = load_installed(points, ())
        assert (len(result.components), len(result.faults)) == (1, 1)
        assert result.faults[0].startswith("a package (b = ")
