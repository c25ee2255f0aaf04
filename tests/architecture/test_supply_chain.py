"""What is installed is what was locked: each artifact has a digest, and each way of installing checks it."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).parents[2]
PAGE_LOCKS = [
    TOP / "web" / "package-lock.json",
    *(TOP / "tests" / "support" / name / "package-lock.json" for name in ("oidc_provider", "azurite")),
]
SCRIPTS = [*(path for path in (TOP / "scripts").iterdir() if path.is_file()), TOP / "Makefile", TOP / ".ci" / "run"]
UNLOCKED = {"ensure-flowise": "a real Flowise, for one kind of test only", "build-page": "", "hatch_build.py": ""}
"""Scripts that may install without digests, and why."""

OTHER_SYSTEMS = re.compile(
    r"node_modules/(@biomejs/cli-(android|darwin|linux-.*musl|win32)"
    r"|@tailwindcss/oxide-(android|darwin|freebsd|linux-arm-|wasm32|win32)).*"
)
"""Programs that only build or lint the page, of other systems than the wheel is built on: npm wrote no digest."""


def python_lock() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads((TOP / "uv.lock").read_text(encoding="utf-8"))["package"]
    return found


def unlocked_installs(text: str) -> list[str]:
    """Lines of a script that install what no digest was checked of."""
    joined = re.sub(r"\\\n\s*", " ", text)
    lines = [line.strip() for line in joined.splitlines() if not line.lstrip().startswith("#")]
    return [line for line in lines if _installs(line) and not _is_locked(line)]


_INSTALL = re.compile(r"""pip["']? install|npm (install|i|ci)\b|\bnpx\b|(\buv|\(UV\)|ensure-uv\)"?) (sync|run)\b""")


def _installs(line: str) -> bool:
    return _INSTALL.search(line) is not None


def _is_locked(line: str) -> bool:
    return any(word in line for word in ("--locked", "--no-sync", "--require-hashes", "npm ci", "for name in npm npx"))


class TestLockFiles:
    def test_of_python_have_a_digest_for_every_artifact(self) -> None:
        bare = [
            f"{package['name']} {artifact['url']}"
            for package in python_lock()
            for artifact in [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
            if not re.fullmatch(r"sha256:[0-9a-f]{64}", artifact.get("hash", ""))
        ]
        assert bare == []

    def test_of_python_take_packages_of_registries_alone(self) -> None:
        others = [one["name"] for one in python_lock() if "registry" not in one["source"]]
        assert others == ["headgate"]
        assert [one["name"] for one in python_lock() if not one.get("wheels") and "sdist" not in one] == ["headgate"]

    @pytest.mark.parametrize("lock", PAGE_LOCKS, ids=lambda path: str(path.parent.name))
    def test_of_node_have_a_digest_for_every_package(self, lock: Path) -> None:
        packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
        bare = [
            path
            for path, one in packages.items()
            if path and not one.get("inBundle") and not str(one.get("integrity", "")).startswith("sha512-")
        ]
        assert [path for path in bare if not (OTHER_SYSTEMS.fullmatch(path) and packages[path].get("optional"))] == []

    def test_of_node_are_all_checked(self) -> None:
        kept = [path for path in TOP.rglob("package-lock.json") if not {"node_modules", ".tools"} & set(path.parts)]
        assert sorted(kept) == sorted(PAGE_LOCKS)

    @pytest.mark.parametrize("name", ["uv", "node"])
    def test_of_tools_have_a_digest_for_every_version(self, name: str) -> None:
        joined = (TOP / "scripts" / "tools" / f"{name}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
        assert joined.splitlines()
        assert all(re.search(r"==.*--hash=sha256:[0-9a-f]{64}", line) for line in joined.splitlines())


class TestInstalling:
    @pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.name))
    def test_checks_digests(self, script: Path) -> None:
        if script.name not in UNLOCKED:
            assert unlocked_installs(script.read_text(encoding="utf-8")) == []

    @pytest.mark.parametrize(
        "line",
        [
            "python -m pip install uv",
            "npm install",
            '  "$(./scripts/ensure-uv)" pip install x',
            "\t@$(UV) sync",
            "npx x",
        ],
    )
    def test_would_be_found(self, line: str) -> None:
        assert unlocked_installs(line) == [line.strip()]
