"""What is published is complete: built from a fresh clone, installed where nothing else is, and opened in a browser."""

import os
import re
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from headgate import __version__
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import start_studio
from tests.support.packages import TOP, UV, Installation, copy_checkout, copy_tree, install, run, succeed

pytestmark = [pytest.mark.xdist_group("installation"), pytest.mark.timeout(900)]

BUILT = "headgate/entrypoints/http/studio/built"
BUILD: list[str | Path] = [UV, "build", "--quiet", "--python", sys.executable]
PACKAGES = 80
"""A plain installation has fewer packages than this."""
MEGABYTES = 200
"""And takes less than this on the disk."""
SITE = {"https://headgate.dev/docs/": "docs/", "https://headgate.dev/source/": ""}
_LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


@dataclass(frozen=True)
class Distributions:
    """Both distributions of one build."""

    sdist: Path
    wheel: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """Built in a fresh clone on a machine with Node.js; npm's packages are copied from this checkout."""
    clone = copy_checkout(tmp_path_factory.mktemp("clone") / "headgate")
    assert not (clone / "src" / BUILT).exists()
    copy_tree(TOP / "web" / "node_modules", clone / "web" / "node_modules")
    (clone / "web" / "node_modules" / ".package-lock.json").touch()
    node = succeed(["scripts/ensure-node"], TOP).strip()
    succeed(BUILD, clone, PATH=f"{node}{os.pathsep}{os.environ['PATH']}")
    return Distributions(
        clone / "dist" / f"headgate-{__version__}.tar.gz", clone / "dist" / f"headgate-{__version__}-py3-none-any.whl"
    )


@pytest.fixture(scope="module")
def installed(built: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return install(built.wheel, tmp_path_factory.mktemp("clean"))


def without_node(folder: Path) -> str:
    """A search path with the programs of the system, but no Node.js and no uv."""
    folder.mkdir()
    for name in ("bash", "sh", "env", "dirname", "find", "sort", "xargs", "sha256sum", "cat", "mkdir", "ln"):
        (folder / name).symlink_to(next(p for p in (Path("/bin") / name, Path("/usr/bin") / name) if p.exists()))
    return str(folder)


class TestBuild:
    def test_of_a_fresh_clone_carries_the_page_in_both_distributions(self, built: Distributions) -> None:
        with zipfile.ZipFile(built.wheel) as wheel, tarfile.open(built.sdist) as sdist:
            for names, prefix in ((wheel.namelist(), ""), (sdist.getnames(), f"headgate-{__version__}/src/")):
                assert f"{prefix}{BUILT}/index.html" in names
                assert sum(name.startswith(f"{prefix}{BUILT}/assets/") for name in names) > 50
                assert not [name for name in names if "node_modules" in name or "/tests/" in name]

    def test_of_a_source_distribution_needs_no_node(self, built: Distributions, tmp_path: Path) -> None:
        with tarfile.open(built.sdist) as sdist:
            sdist.extractall(tmp_path, filter="data")
        source = tmp_path / f"headgate-{__version__}"
        assert (source / "web" / "package.json").is_file()
        succeed([*BUILD, "--wheel"], source, PATH=without_node(tmp_path / "programs"))
        (wheel,) = (source / "dist").glob("*.whl")
        assert wheel.read_bytes() == built.wheel.read_bytes()

    def test_of_a_clone_without_node_says_what_is_missing(self, tmp_path: Path) -> None:
        clone = copy_checkout(tmp_path / "clone")
        (clone / "scripts" / "ensure-uv").write_text("#!/usr/bin/env bash\necho 'no network' >&2; exit 1\n")
        result = run(
            [UV, "build", "--wheel", "--python", sys.executable], clone, PATH=without_node(tmp_path / "programs")
        )
        assert result.returncode != 0
        assert "Node.js 22.12 or newer with npm" in result.stderr
        assert "no network" in result.stderr


class TestMetadata:
    def test_names_project_and_pages(self, built: Distributions) -> None:
        with zipfile.ZipFile(built.wheel) as wheel:
            text = wheel.read(f"headgate-{__version__}.dist-info/METADATA").decode()
        metadata = Parser().parsestr(text)
        assert metadata["Author"] == "Headgate"
        assert metadata["License-Expression"] == "Apache-2.0"
        assert {url.partition(",")[0] for url in metadata.get_all("Project-URL", [])} == {
            *("Homepage", "Documentation", "Source", "Changelog")
        }
        assert len(metadata["Keywords"].split(",")) >= 5
        assert "Programming Language :: Python :: 3.14" in metadata.get_all("Classifier", [])

    def test_readme_links_work_outside_the_repository(self, built: Distributions) -> None:
        with zipfile.ZipFile(built.wheel) as wheel:
            readme = wheel.read(f"headgate-{__version__}.dist-info/METADATA").decode().partition("\n\n")[2]
        links = _LINK.findall(readme)
        assert len(links) > 30
        assert [link for link in links if not link.startswith("https://")] == []
        files = [name for link in links for site, folder in SITE.items() if (name := _file(link, site, folder))]
        assert sum(name.endswith(".png") for name in files) >= 5
        assert [name for name in files if not (TOP / name).exists()] == []


def _file(link: str, site: str, folder: str) -> str:
    """The file of the repository that a published address shows; empty for an address elsewhere."""
    if not link.startswith(site):
        return ""
    return folder + re.sub(r"\.html$", ".md", link.removeprefix(site))


class TestInstallation:
    def test_is_small(self, installed: Installation) -> None:
        names = installed.packages()
        assert len(names) < PACKAGES, sorted(names)
        assert installed.megabytes() < MEGABYTES

    def test_serves_the_studio(
        self, installed: Installation, browser: Browser, console: Console, tmp_path: Path
    ) -> None:
        assert succeed([installed.headgate, "--version"], tmp_path).strip().endswith(__version__)
        with start_studio(tmp_path, program=[installed.headgate]) as studio:
            with open_page(browser, studio.url, console) as page:
                page.goto("/")
                expect(page.get_by_role("navigation", name="Main")).to_be_visible()
            assert studio.get("/flows")["items"] == []
        console.check()

    def test_builds_and_runs_a_flow_without_a_model(self, installed: Installation, tmp_path: Path) -> None:
        wish = "list the installed packages, count them per licence, and save the table as licences.csv"
        said = succeed([installed.headgate, "ask", wish, "--run"], tmp_path, HEADGATE_DATA_DIR=str(tmp_path))
        assert "licences.csv" in said

    def test_names_the_extra_that_a_model_needs(self, installed: Installation, tmp_path: Path) -> None:
        command: list[str | Path] = [installed.headgate, "ask", "a flow", "--model", "openai/gpt-5-mini"]
        result = run(command, tmp_path, HEADGATE_DATA_DIR=str(tmp_path), OPENAI_API_KEY="sk-none")
        assert result.returncode != 0
        assert "headgate[openai]" in result.stdout + result.stderr

    @pytest.mark.parametrize(
        "command",
        [[UV, "tool", "run", "--from"], [Path(sys.executable).with_name("pipx"), "run", "--spec"]],
        ids=["uvx", "pipx"],
    )
    def test_runs_without_being_installed(
        self, built: Distributions, tmp_path: Path, command: list[str | Path]
    ) -> None:
        environment = {"PIPX_HOME": str(tmp_path / "pipx"), "UV_TOOL_DIR": str(tmp_path / "tools")}
        said = succeed([*command, built.wheel, "headgate", "--version"], tmp_path, **environment)
        assert said.strip().endswith(__version__)
