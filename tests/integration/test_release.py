"""A release made on a copy of this checkout: version, changelog, tag, files, checksums and signature."""

import hashlib
import json
import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from scripts import release

from headgate import __version__
from tests.support.packages import TOP, copy_checkout, copy_tree, run, succeed

pytestmark = [pytest.mark.xdist_group("release"), pytest.mark.timeout(900)]
NEXT = "9.8.0"
GIT = ("git", "-c", "user.name=Test", "-c", "user.email=test@example.org")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one commit: the files of this checkout."""
    top = copy_checkout(tmp_path_factory.mktemp("release") / "headgate")
    succeed([*GIT, "init", "--quiet", "--initial-branch", "main"], top)
    succeed([*GIT, "add", "--all"], top)
    succeed([*GIT, "commit", "--quiet", "--message", "All"], top)
    return top


@pytest.fixture
def clone(copy: Path, tmp_path: Path) -> Path:
    """A clone of it that a release may change, whatever the order of the tests; packages of the page are there."""
    top = tmp_path / "headgate"
    succeed([*GIT, "clone", "--quiet", copy, top], tmp_path)
    succeed([*GIT, "config", "user.name", "Test"], top)
    succeed([*GIT, "config", "user.email", "test@example.org"], top)
    copy_tree(TOP / "web" / "node_modules", top / "web" / "node_modules")
    (top / "web" / "node_modules" / ".package-lock.json").touch()
    return top


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("key") / "release"
    succeed(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "release@headgate.dev", "-f", path], path.parent)
    return path


def state(top: Path) -> tuple[str, str, str]:
    """Commit, tags and changes of a repository."""
    return (
        succeed([*GIT, "rev-parse", "HEAD"], top),
        succeed([*GIT, "tag"], top),
        succeed([*GIT, "status", "--porcelain"], top),
    )


class TestDryRun:
    def test_prints_all_and_changes_nothing(self, copy: Path, key: Path, capsys: pytest.CaptureFixture[str]) -> None:
        before = state(copy)
        assert release.main([NEXT, "--key", str(key), "--dry-run", "--date", "2027-01-02"], top=copy) == 0
        said = capsys.readouterr().out
        for name in release.VERSIONED:
            assert f"+++ {name}" in said
        assert f"+## [{NEXT}] - 2027-01-02" in said
        assert f"git tag --annotate v{NEXT}" in said
        assert state(copy) == before
        assert not (copy / "dist").exists()

    @pytest.mark.parametrize(
        ("version", "words"), [("0.0.1", "does not come after"), ("next", "is no version"), (__version__, "come after")]
    )
    def test_refuses_versions(
        self, copy: Path, key: Path, version: str, words: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert release.main([version, "--key", str(key), "--dry-run"], top=copy) == 1
        assert words in capsys.readouterr().err

    def test_refuses_without_key_with_changes_and_without_changelog(
        self, copy: Path, key: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        wanted = [NEXT, "--dry-run", "--key"]
        assert release.main([*wanted, str(key.with_name("none"))], top=copy) == 1
        assert "no signing key" in capsys.readouterr().err
        changelog = copy / release.CHANGELOG
        text = changelog.read_text()
        changelog.write_text(text + "\n")
        assert release.main([*wanted, str(key)], top=copy) == 1
        assert "has changes" in capsys.readouterr().err
        changelog.write_text(text)
        made = release.Release(copy, NEXT, "2027-01-02", key)
        with pytest.raises(release.Refused, match="says nothing"):
            made._dated("# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-11-21\n")

    def test_candidates_come_before_their_release(self) -> None:
        mixed = ["0.10.0", "0.2.0", "0.1.0", "0.2.0rc2", "0.2.0rc1"]
        assert sorted(mixed, key=release._order) == ["0.1.0", "0.2.0rc1", "0.2.0rc2", "0.2.0", "0.10.0"]


class TestRelease:
    def test_is_complete_signed_and_named_everywhere(
        self, clone: Path, key: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        node = succeed(["scripts/ensure-node"], TOP).strip()
        monkeypatch.setenv("PATH", f"{node}:/usr/local/bin:/usr/bin:/bin")
        assert release.main([NEXT, "--key", str(key), "--date", "2027-01-02"], top=clone) == 0
        folder = clone / "dist" / NEXT
        wheel = folder / f"headgate-{NEXT}-py3-none-any.whl"
        files = {wheel.name, f"headgate-{NEXT}.tar.gz", "python.cdx.json", "page.cdx.json"}
        assert {path.name for path in folder.iterdir()} == files | {"SHA256SUMS", "SHA256SUMS.sig"}
        with zipfile.ZipFile(wheel) as opened:
            assert f"\nVersion: {NEXT}\n" in opened.read(f"headgate-{NEXT}.dist-info/METADATA").decode()
        for name in ("python.cdx.json", "page.cdx.json"):
            bill = json.loads((folder / name).read_text())
            assert (bill["bomFormat"], bill["metadata"]["component"]["version"]) == ("CycloneDX", NEXT)
        self.check_sums_and_signature(folder, files, key)
        commit, tags, changes = state(clone)
        assert (tags.strip(), changes) == (f"v{NEXT}", "")
        assert succeed([*GIT, "rev-parse", f"v{NEXT}^{{commit}}"], clone) == commit
        text = (clone / release.CHANGELOG).read_text()
        assert f"## [Unreleased]\n\n## [{NEXT}] - 2027-01-02\n" in text
        for name in release.VERSIONED:
            assert not re.search(
                release.VERSIONED[name].format(re.escape(__version__)), (clone / name).read_text(), re.MULTILINE
            )

    def check_sums_and_signature(self, folder: Path, files: set[str], key: Path) -> None:
        sums = (folder / "SHA256SUMS").read_text()
        assert {line.split()[1] for line in sums.splitlines()} == files
        for line in sums.splitlines():
            digest, name = line.split()
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        signers = folder.parent / "signers"
        signers.write_text(f"release@headgate.dev {key.with_suffix('.pub').read_text()}")
        verify: list[str | Path] = [
            "ssh-keygen",
            "-Y",
            "verify",
            "-f",
            signers,
            "-I",
            "release@headgate.dev",
            "-n",
            "headgate-release",
        ]
        for text, code in ((sums, 0), (sums.replace("a", "b", 1), 255)):
            result = subprocess.run(
                [*verify, "-s", folder / "SHA256SUMS.sig"], input=text, text=True, capture_output=True, check=False
            )
            assert result.returncode == code, result.stderr
        signers.unlink()


class TestScript:
    def test_says_how_it_is_used(self) -> None:
        result = run(["scripts/release", "--help"], TOP)
        assert result.returncode == 0
        assert "--dry-run" in result.stdout
