"""What holds for the page's sources, and for the types that are generated from the API's document."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import orjson
import pytest

from headgate.components import BUILTINS
from headgate.entrypoints.http.app import create_app
from headgate.features.audit.actions import Action
from headgate.features.catalog.gallery import load_gallery
from headgate.features.connections.catalogue import KINDS
from headgate.features.maintenance.service import JOBS
from headgate.features.runs.preview.effects import PATTERNS
from headgate.foundation.settings import Settings
from tests.support.report_all import report_all

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "web" / "src"
MOST_LINES = 250
ROOMS = ("app", "features", "components", "lib", "api", "testing", "styles", "widget")
TEMPLATES = [component.template() for component in BUILTINS]
_IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["']([^"']+)["']""")


def sources() -> Iterator[Path]:
    """Every module of the page but the generated one."""
    for path in sorted(SOURCES.rglob("*.ts*")):
        if path.name != "schema.d.ts":
            yield path


def imported_by(path: Path) -> Iterator[str]:
    """Modules that a module imports, as paths from `src`."""
    for wanted in _IMPORT.findall(path.read_text(encoding="utf-8")):
        if wanted.startswith("@/"):
            yield wanted.removeprefix("@/")
        elif wanted.startswith("."):
            yield str((path.parent / wanted).resolve().relative_to(SOURCES))


class TestTheGeneratedClient:
    def test_is_of_the_document_that_the_server_gives(self, tmp_path: Path) -> None:
        document, types = tmp_path / "openapi.json", tmp_path / "schema.d.ts"
        document.write_bytes(orjson.dumps(create_app(Settings()).openapi()))
        command = [str(ROOT / "scripts/npm"), "exec", "--", "openapi-typescript", str(document)]
        made = subprocess.run(
            [*command, "--default-non-nullable", "false", "-o", str(types)], capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, made.stderr
        is_current = (
            types.read_text() == (SOURCES / "api" / "schema.d.ts").read_text()
        )  # a difference is too long to print
        assert is_current, "Run `make web-api`."


class TestTheLockFile:
    def test_names_every_package_of_every_platform(self) -> None:
        """What is there for another platform is only an entry: `npm ci` refuses a lock file without it."""
        packages = orjson.loads((ROOT / "web" / "package-lock.json").read_bytes())["packages"]
        absent = [
            f"{name} of {owner}"
            for owner, package in packages.items()
            for name in package.get("optionalDependencies", {})
            if not any(f"{folder}node_modules/{name}" in packages for folder in ("", f"{owner}/"))
        ]
        assert not absent
        assert not any("resolved" in package for package in packages.values()), "A lock file names no registry."


class TestTheLayout:
    def test_has_no_room_but_those_that_are_known(self) -> None:
        assert {path.name for path in SOURCES.iterdir() if path.is_dir()} <= set(ROOMS)

    def test_features_do_not_import_each_other(self) -> None:
        wrong = [
            f"{path.relative_to(SOURCES)} imports {wanted}"
            for path in sources()
            for wanted in imported_by(path)
            if (own := path.relative_to(SOURCES).parts)[0] == "features"
            and wanted.startswith("features/")
            and wanted.split("/")[1] != own[1]
        ]
        assert wrong == []

    @pytest.mark.parametrize(
        ("room", "allowed"),
        [
            ("api", {"api", "lib"}),
            ("lib", {"lib", "api"}),
            ("components", {"components", "lib", "api", "widget"}),
            ("widget", {"widget"}),
        ],
    )
    def test_rooms_import_only_those_below_them(self, room: str, allowed: set[str]) -> None:
        wrong = [
            f"{path.relative_to(SOURCES)} imports {wanted}"
            for path in sources()
            if path.relative_to(SOURCES).parts[0] == room and not path.name.endswith((".test.ts", ".test.tsx"))
            for wanted in imported_by(path)
            if wanted.split("/")[0] not in allowed
        ]
        assert wrong == []

    def test_no_test_replaces_a_module(self) -> None:
        """Files of tests share a process (`isolate: false`): the next would have what stands in for it too."""
        replacing = [str(path.relative_to(SOURCES)) for path in sources() if "vi.mock(" in path.read_text("utf-8")]
        assert not replacing, replacing

    def test_stores_do_no_http(self) -> None:
        wrong = [
            f"{path.relative_to(SOURCES)} imports {wanted}"
            for path in sources()
            if path.name.endswith("Slice.ts")
            for wanted in imported_by(path)
            if wanted.startswith("api/") and wanted != "api/types"
        ]
        assert wrong == []


class TestAModule:
    def test_is_short_and_draws_with_roles_of_colour(self) -> None:
        with report_all() as item:
            for path in sources():
                text = path.read_text(encoding="utf-8")
                with item(path.relative_to(SOURCES)):
                    assert len(text.splitlines()) <= MOST_LINES
                    assert not re.search(r"dangerouslySetInnerHTML|\beval\(|new Function\(", text)
                    if path.suffix == ".tsx" and ".test." not in path.name:
                        colours = re.findall(r"(?<![&\w])#[0-9a-fA-F]{6}\b|\brgba?\(", text)
                        assert not colours, "colours come from styles/tokens.css"


class TestIcons:
    def test_of_every_component_are_known_to_the_page(self) -> None:
        icons = (SOURCES / "components" / "icons" / "componentIcons.ts").read_text(encoding="utf-8")
        known = set(re.findall(r"""^  "?([a-z0-9-]+)"?: [A-Z]""", icons, re.MULTILINE))
        assert {template.icon for template in TEMPLATES} - known == set()


class TestWordsOfNames:
    """Names that the server sends and the page has words for, in English and Swedish."""

    @pytest.mark.parametrize("language", ["en", "sv"])
    def test_each_action_of_the_audit_log_and_each_maintenance_job_has_its_words(self, language: str) -> None:
        texts = SOURCES / "features" / "settings" / "texts"
        actions = set(re.findall(r"did_(\w+):", (texts / f"{language}.actions.ts").read_text(encoding="utf-8")))
        jobs = set(re.findall(r"job_(\w+):", (texts / f"{language}.retention.ts").read_text(encoding="utf-8")))
        assert {action.replace(".", "_", 1) for action in get_args(Action)} - actions == set()
        assert set(JOBS) - jobs == set()
        assert {f"{job}_more" for job in JOBS} - jobs == set()


class TestServedWords:
    """What the server says of components and ready-made flows, as the page says it in Swedish."""

    def test_are_all_there_and_none_is_left_of_what_is_said_no_more(self) -> None:
        said = {template.label for template in TEMPLATES} | {template.description for template in TEMPLATES}
        for template in TEMPLATES:
            said |= {text for field in template.fields for text in (field.label, field.help)}
            said |= {text for output in template.outputs for text in (output.label, output.help)}
        for kind in KINDS.values():
            said |= {kind.label, kind.description}
            said |= {text for field in kind.fields for text in (field.label, field.help)}
        for recipe in load_gallery():
            said |= {recipe.title, recipe.description, *recipe.tags}
            said |= {node.label for node in recipe.flow().nodes}
        said |= set(PATTERNS.values())
        words = orjson.loads((SOURCES / "lib" / "i18n" / "served" / "sv.json").read_bytes())
        assert words.keys() == said - {""}, "Say it in Swedish in web/src/lib/i18n/served/sv.json too."
        assert all(words.values())

    def test_keep_the_names_that_are_written_as_they_are(self) -> None:
        words = orjson.loads((SOURCES / "lib" / "i18n" / "served" / "sv.json").read_bytes())
        for english, swedish in words.items():
            assert re.findall(r"`\w+`", english) == re.findall(r"`\w+`", swedish), english
            assert english.count("\n\n") == swedish.count("\n\n"), english
