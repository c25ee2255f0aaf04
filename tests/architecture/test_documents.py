"""What is written beside the code is true: generated pages, settings, routes, capabilities, versions."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from docs.generate import FOLDER, PAGES
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from headgate import __version__
from headgate.entrypoints.http.app import create_app
from headgate.features.audit.actions import Action
from headgate.foundation.database.migrate import HEAD
from headgate.foundation.settings import Settings
from tests.architecture.source import PACKAGE, ROOT, modules, text_of, tracked

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"(tests|src|docs|examples|benchmarks)/")
PROBLEM = "application/problem+json"


def settings_of(model: type[BaseModel], prefix: str) -> dict[str, FieldInfo]:
    """Every setting by the variable that sets it."""
    found: dict[str, FieldInfo] = {}
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found |= settings_of(kind, f"{prefix}{name.upper()}__")
        else:
            found[f"{prefix}{name.upper()}"] = field
    return found


SETTINGS = settings_of(Settings, "HEADGATE_")


def operations() -> list[tuple[str, dict[str, Any]]]:
    """Every operation of the API: its name and what the OpenAPI document says of it."""
    document = create_app(Settings()).openapi()
    return [
        (f"{method.upper()} {path}", operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]


def capability_rows() -> list[list[str]]:
    """Cells of each row of the table of capabilities."""
    path = ROOT / "docs" / "capabilities.md"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in rows if re.fullmatch(r"[A-Z]\d\d", row[0])]


class TestGeneratedPages:
    @pytest.mark.parametrize("name", PAGES)
    def test_are_current(self, name: str) -> None:
        written = (FOLDER / name).read_text(encoding="utf-8")
        assert written == PAGES[name](), f"docs/{name} is behind the code: run `make docs`"


class TestSettings:
    def test_are_described_in_a_sentence(self) -> None:
        descriptions = {variable: field.description or "" for variable, field in SETTINGS.items()}
        assert {name: text for name, text in descriptions.items() if not text.endswith(".")} == {}

    def test_are_on_the_page(self) -> None:
        page = (FOLDER / "reference/settings.md").read_text(encoding="utf-8")
        assert [variable for variable in SETTINGS if f"`{variable}`" not in page] == []

    def test_that_the_text_names_exist(self) -> None:
        """Messages and pages that send a reader to a setting send them to one that is there.

        A recipe adds a setting; `test_recipes.py` performs each on a copy of the source.
        """
        pattern = re.compile(r"HEADGATE_[A-Z0-9_]*[A-Z0-9]\b(?!_)")
        groups = {name.rsplit("__", 1)[0] for name in SETTINGS if "__" in name}
        found = {
            f"{path.relative_to(ROOT).as_posix()}: {name}"
            for path in tracked()
            if (PACKAGE in path.parents or path.suffix == ".md") and not {"decisions", "recipes.md"} & {*path.parts}
            for name in pattern.findall(text_of(path) or "")
            if name not in SETTINGS and name not in groups
        }
        assert found == set()


class TestRoutes:
    def test_have_a_summary_of_their_own(self) -> None:
        found = operations()
        summaries = [operation.get("summary", "") for _, operation in found]
        assert len(found) > 20
        assert [name for (name, _), summary in zip(found, summaries, strict=True) if not summary] == []
        generated = [
            name for name, operation in found if operation["summary"].istitle() and " " in operation["summary"]
        ]
        assert generated == [], "FastAPI made these up from the function's name"

    def test_say_what_they_do(self) -> None:
        assert [name for name, operation in operations() if not operation.get("description")] == []

    def test_declare_that_they_may_answer_with_a_problem(self) -> None:
        silent = [
            name
            for name, operation in operations()
            if "/api/v1/" in name
            and not any(PROBLEM in answer.get("content", {}) for answer in operation["responses"].values())
        ]
        assert silent == []

    def test_belong_to_a_group(self) -> None:
        assert [name for name, operation in operations() if not operation.get("tags")] == []

    def test_have_ids_of_their_own(self) -> None:
        ids = [operation["operationId"] for _, operation in operations()]
        assert len(ids) == len(set(ids))


class TestActions:
    """Of the audit log."""

    def test_are_explained_on_the_page(self) -> None:
        page = (ROOT / "docs/operate/audit-log.md").read_text(encoding="utf-8")
        table = page.partition("## Actions")[2].partition("\n## ")[0]
        assert set(re.findall(r"`([a-z_]+\.[a-z_]+)`", table)) == set(get_args(Action))

    def test_are_each_written_down_somewhere(self) -> None:
        written = "".join(path.read_text(encoding="utf-8") for path in modules() if path.name != "actions.py")
        assert not [action for action in get_args(Action) if f'"{action}"' not in written]


class TestCapabilities:
    def test_are_listed(self) -> None:
        assert capability_rows(), "docs/capabilities.md has no rows"

    def test_name_files_that_exist(self) -> None:
        missing = [
            f"{row[0]}: {name}"
            for row in capability_rows()
            for name in CODE.findall(" ".join(row))
            if re.match(r"(tests|src|docs|examples|benchmarks)/", name)
            and not (ROOT / name.partition("::")[0]).exists()
        ]
        assert missing == []

    def test_name_tests_that_exist(self) -> None:
        missing = []
        for row in capability_rows():
            for name in CODE.findall(" ".join(row)):
                path, *parts = name.split("::")
                text = text_of(ROOT / path) if parts and (ROOT / path).exists() else None
                missing += [f"{row[0]}: {name}" for part in parts if text is not None and not _defines(text, part)]
        assert missing == []

    def test_are_each_proved_by_a_test(self) -> None:
        assert [row[0] for row in capability_rows() if not any("`tests/" in cell for cell in row)] == []


def _defines(text: str, name: str) -> bool:
    return re.search(rf"^\s*(class|def|async def) {re.escape(name)}\b", text, re.MULTILINE) is not None


class TestLinks:
    def test_of_every_page_lead_somewhere(self) -> None:
        broken = [
            f"{path.relative_to(ROOT).as_posix()}: {target}"
            for path in tracked()
            if path.suffix == ".md" and ROOT / "tests" not in path.parents
            for target in LINK.findall(re.sub(r"`[^`\n]*`", "", text_of(path) or ""))
            if not re.match(r"[a-z]+:|#", target) and not (path.parent / target.partition("#")[0]).exists()
        ]
        assert broken == []


class TestVersions:
    def test_the_newest_migration_is_the_one_that_upgrade_goes_to(self) -> None:
        names = sorted(path.name for path in (PACKAGE / "foundation/migrations/versions").glob("[0-9]*.py"))
        assert names[-1].startswith(f"{HEAD}_")

    def test_migrations_follow_one_another(self) -> None:
        before: str | None = None
        for path in sorted((PACKAGE / "foundation/migrations/versions").glob("[0-9]*.py")):
            text = path.read_text()
            assert re.search(rf'^revision = "{path.name[:4]}"$', text, re.MULTILINE), path.name
            expected = "None" if before is None else f'"{before}"'
            assert re.search(rf"^down_revision = {expected}$", text, re.MULTILINE), path.name
            before = path.name[:4]

    def test_the_changelog_has_this_version(self) -> None:
        assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text()

    def test_package_and_project_say_the_same(self) -> None:
        assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text()

    def test_the_guide_for_contributors_is_short(self) -> None:
        assert len((ROOT / "AGENTS.md").read_text().splitlines()) < 60

    def test_decisions_are_numbered_without_gaps(self) -> None:
        numbers = [int(path.name[:4]) for path in sorted(Path(ROOT / "docs/decisions").glob("*.md"))]
        assert numbers == list(range(len(numbers)))
