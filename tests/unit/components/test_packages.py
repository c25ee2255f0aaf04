"""The inventory of installed packages, on the packages installed here and on ones made up on disk."""

from importlib.metadata import Distribution
from pathlib import Path

import pytest

from headgate.components.packages import InstalledPackages, Package, installed, inventory, licence_of
from headgate.sdk.testing import StepHarness


def distribution(folder: Path, metadata: str, files: dict[str, str] | None = None) -> Distribution:
    info = folder / "thing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: thing\nVersion: 1.0\n{metadata}")
    for path, text in (files or {}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in [*(files or {}), "gone/LICENSE"]))
    return Distribution.at(info)


class TestInstalledPackages:
    async def test_lists_real_packages_with_licences(self) -> None:
        outputs = await StepHarness().run(InstalledPackages, {})
        table = outputs["table"]
        assert table.columns == ["name", "version", "licence", "summary", "homepage", "files", "size_bytes"]
        rows = {row["name"]: row for row in table.records()}
        assert rows["pydantic"]["licence"] == "MIT"
        assert rows["pydantic"]["homepage"] == "https://github.com/pydantic/pydantic"
        assert rows["pytest"]["files"] > 50
        assert rows["pytest"]["size_bytes"] > 1000
        assert len(rows) == len(table.rows) > 30
        assert outputs["text"].startswith(f"# Installed packages ({len(rows)})")

    async def test_adds_the_licence_texts_when_asked(self) -> None:
        outputs = await StepHarness().run(InstalledPackages, {"match": "pytest", "licence_texts": True})
        texts = {row["name"]: row["licence_text"] for row in outputs["table"].records()}
        assert set(texts) >= {"pytest", "pytest-asyncio"}
        assert "Permission is hereby granted" in texts["pytest"]
        assert "    Permission is hereby granted" in outputs["text"]

    @pytest.mark.parametrize(
        ("match", "names"),
        [("PYDANTIC_core", ["pydantic_core"]), ("fasta*, httpx2", ["fastapi", "httpx2"])],
    )
    def test_filters_by_name(self, match: str, names: list[str]) -> None:
        assert [package.name for package in installed(match)] == names

    def test_finds_nothing_for_a_name_nobody_has(self) -> None:
        assert installed("no-such-package") == []


class TestLicenceOf:
    @pytest.mark.parametrize(
        ("metadata", "licence"),
        [
            ("License-Expression: MIT\nClassifier: License :: OSI Approved :: BSD License\n", "MIT"),
            (
                (
                    "License: long text\nClassifier: License :: OSI Approved\n"
                    "Classifier: License :: OSI Approved :: BSD License\nClassifier: License :: Public Domain\n"
                ),
                "BSD License / Public Domain",
            ),
            ("License: Apache 2.0\n        and more\n", "Apache 2.0"),
            ("", "Unknown"),
        ],
    )
    def test_takes_the_most_exact_statement(self, tmp_path: Path, metadata: str, licence: str) -> None:
        assert licence_of(distribution(tmp_path, metadata).metadata) == licence


class TestPackageOnDisk:
    def test_reads_licence_files_beside_the_metadata(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        files = {
            "thing-1.0.dist-info/licenses/LICENSE.md": "grant\x00",
            "thing-1.0.dist-info/NOTICE": "notice",
            "thing/license.py": "code = 1",
            "thing/COPYING": "vendored",
            "../LICENSE": "outside",
        }
        found = distribution(tmp_path, "Home-page: https://thing.test\nSummary: A\tthing\n", files)
        monkeypatch.setattr("headgate.components.packages.distributions", lambda: [found, found])
        (package,) = installed()
        assert package.licence_text == (
            "thing-1.0.dist-info/licenses/LICENSE.md\n\ngrant\ufffd\n\nthing-1.0.dist-info/NOTICE\n\nnotice"
        )
        assert (package.homepage, package.summary, package.files) == ("https://thing.test", "A thing", 6)

    def test_prefers_the_address_that_says_homepage(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        urls = "Project-URL: Docs, https://docs.test\nProject-URL: Homepage, https://home.test\n"
        monkeypatch.setattr("headgate.components.packages.distributions", lambda: [distribution(tmp_path, urls)])
        assert installed()[0].homepage == "https://home.test"


class TestInventory:
    def test_counts_licences(self) -> None:
        one = Package("a", "1", "MIT", "", "", 1, 1, "")
        two = Package("b", "2", "BSD", "Does b.", "https://b.test", 1, 1, "text\nmore")
        text = inventory([one, two, one], licence_texts=True)
        assert "- MIT: 2\n- BSD: 1\n" in text
        assert "### b 2\n\n- Licence: BSD\n- Homepage: https://b.test\n\nDoes b.\n\n    text\n    more\n" in text
