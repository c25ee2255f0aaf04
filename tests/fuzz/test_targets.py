"""Targets under the fuzzer: three for a second in `make test`, all longer in `make test-faults` (`FUZZ_SECONDS`)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.make_corpus import samples
from tests.fuzz.run import INSTRUMENTED
from tests.fuzz.targets import CORPUS, TARGETS

SECONDS = int(os.environ.get("FUZZ_SECONDS", "1"))
TOP = Path(__file__).parents[2]
KEPT = TOP / ".fuzz"
"""Where inputs that fail are kept, and the corpus of long runs: the next one continues from it."""
LONG_SECONDS = 60

every_target = pytest.mark.parametrize("name", sorted(TARGETS))
USUAL = ("importer", "sealed", "spec")
"""Targets that `make test` runs under the fuzzer: files and text of others."""
usual_targets = [pytest.param(name, marks=[] if name in USUAL else [pytest.mark.campaign]) for name in sorted(TARGETS)]


def folder_of(name: str, seconds: int, other: Path) -> Path:
    """Where a run keeps its inputs: a long run in the repository's own folder, others in one that goes."""
    return KEPT / name if seconds >= LONG_SECONDS else other


class TestTargets:
    @every_target
    def test_take_their_corpus(self, name: str) -> None:
        for path in sorted((CORPUS / name).iterdir()):
            TARGETS[name](path.read_bytes())

    @pytest.mark.parametrize("name", usual_targets)
    @pytest.mark.timeout(0)
    def test_take_what_a_fuzzer_makes_up(self, name: str, tmp_path: Path) -> None:
        folder = folder_of(name, SECONDS, tmp_path)
        command = [sys.executable, "-m", "tests.fuzz.run", name, "--seconds", str(SECONDS), "--keep", str(folder)]
        done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=SECONDS + 300, check=False)
        for pattern in ("crash-*", "timeout-*", "oom-*"):
            for path in tmp_path.glob(pattern):
                (KEPT / name).mkdir(parents=True, exist_ok=True)
                shutil.copy(path, KEPT / name)
        assert done.returncode == 0, f"inputs are in {KEPT / name}\n{done.stderr[-3000:]}"
        assert "Done " in done.stdout + done.stderr

    def test_have_code_to_follow_and_samples(self) -> None:
        assert INSTRUMENTED.keys() == TARGETS.keys() == {one.name for one in CORPUS.iterdir() if one.is_dir()}
        stored = {name for name in samples() if (CORPUS / name).is_file()}
        assert stored == set(samples())

    def test_keep_what_a_long_run_learned(self, tmp_path: Path) -> None:
        assert folder_of("spec", 600, tmp_path) == TOP / ".fuzz" / "spec"
        assert folder_of("spec", 3, tmp_path) == tmp_path
        ignored = (TOP / ".gitignore").read_text(encoding="utf-8").splitlines()
        assert ".fuzz/" in ignored or "/.fuzz/" in ignored

    def test_would_fail_by_a_fault(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("headgate.graph.spec.print_spec", lambda flow: "")
        monkeypatch.setattr("tests.fuzz.targets.print_spec", lambda flow: "name: x\nnodes:\n  a: Note\nedges:\n")
        with pytest.raises(AssertionError):
            TARGETS["spec"]((CORPUS / "spec" / "Agent").read_bytes())
