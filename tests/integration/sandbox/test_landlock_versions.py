import subprocess
import sys
from pathlib import Path

import pytest

import headgate
from headgate.sandbox.guest import kernel

pytestmark = pytest.mark.isolated

PROGRAM = """
import os, sys
source, version, scratch, canary = sys.argv[1:]
sys.path.insert(0, source)
from headgate.sandbox.guest import kernel, landlock
libraries, devices = ["/usr/lib", "/nowhere"], ["/dev/null"]
ruleset = landlock.build_ruleset(int(version), libraries=libraries, devices=devices, scratch=scratch)
kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
kernel.landlock_enter(ruleset)
os.close(ruleset)

def refused(action):
    try:
        action()
    except PermissionError:
        return True
    return False

inside = scratch + "/file"
open(inside, "w").write("x")
os.rename(inside, inside + "2")
os.unlink(inside + "2")
os.listdir("/usr/lib")
open("/dev/null", "w").write("x")
print(all([
    refused(lambda: open("/etc/passwd")),
    refused(lambda: open(canary, "w")),
    refused(lambda: os.unlink(canary)),
    refused(lambda: os.listdir("/")),
    refused(lambda: os.mkfifo(scratch + "/pipe")),
    refused(lambda: os.symlink("/etc/passwd", scratch + "/link")),
    refused(lambda: os.execv("/usr/bin/env", ["env"])),
]))
"""


class TestBuildRuleset:
    @pytest.mark.parametrize("version", range(1, 8))
    def test_holds_with_what_each_version_knows(self, version: int, tmp_path: Path) -> None:
        """An older kernel is a newer one told to handle less."""
        if version > kernel.landlock_abi():
            pytest.skip("this kernel is older")
        scratch, canary = tmp_path / "scratch", tmp_path / "canary"
        scratch.mkdir()
        canary.write_text("alive")
        source = str(Path(headgate.__file__).parents[1])
        command = [sys.executable, "-I", "-S", "-c", PROGRAM, source, str(version), str(scratch), str(canary)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (result.stdout, result.stderr) == ("True\n", "")
        assert canary.read_text() == "alive"
