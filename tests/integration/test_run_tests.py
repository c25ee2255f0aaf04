"""The script that runs the tests: what failed beside others is run once more, alone, and named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "run-tests"
TESTS = """
import os
from pathlib import Path

import pytest

@pytest.mark.xdist_group("a group")
@pytest.mark.parametrize("number", range(8))
def test_it(number):
    ran = Path(f"ran-{number}")
    again, _ = ran.exists(), ran.touch()
    assert number >= int(os.environ["FAILING"]) or (again and os.environ["HEALS"])
"""


def run(folder: Path, *, failing: int, heals: bool) -> tuple[int, str]:
    """Run the script on tests of which some fail, at their first run or always; return its code and output."""
    (folder / "test_made_up.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "FAILING": str(failing), "HEALS": "yes" if heals else ""}
    environment = {name: value for name, value in environment.items() if not name.startswith("PYTEST_")}
    ended = subprocess.run(
        [SCRIPT, ".", "-q", "-n", "0"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stdout


class TestRunTests:
    def test_passes_without_a_second_run(self, tmp_path: Path) -> None:
        code, output = run(tmp_path, failing=0, heals=False)
        assert (code, "once more" in output) == (0, False)

    def test_names_what_passes_alone_as_unstable(self, tmp_path: Path) -> None:
        code, output = run(tmp_path, failing=6, heals=True)
        named = output.partition("UNSTABLE")[2]
        assert (code, named.count("test_made_up.py::test_it")) == (0, 6)
        assert "6 passed" in output, "no other test is run a second time"

    @pytest.mark.parametrize(("failing", "heals"), [(1, False), (7, True)], ids=["fails again", "too many"])
    def test_fails(self, tmp_path: Path, *, failing: int, heals: bool) -> None:
        code, output = run(tmp_path, failing=failing, heals=heals)
        assert (code, "UNSTABLE" in output) == (1, False)

    def test_does_not_pass_when_nothing_could_be_run(self, tmp_path: Path) -> None:
        (tmp_path / "conftest.py").write_text("raise RuntimeError")
        assert run(tmp_path, failing=0, heals=False)[0] not in {0, 1}
