"""What a killed `headgate up` leaves: real processes, which end with it or with the next one on the folder."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from headgate.entrypoints.process_record import Process, ProcessRecord
from headgate.foundation.errors import Conflict
from tests.support.processes import await_ends, lives

OWNER = """
import os, subprocess, sys, time
from pathlib import Path
from headgate.entrypoints.process_record import Process, ProcessRecord
from headgate.entrypoints.reaper import reaped
record = ProcessRecord(Path(sys.argv[1]))
nested = "import subprocess, time; subprocess.Popen(['sleep', '600']); time.sleep(600)"
with record.owned(), reaped(record):
    part = subprocess.Popen([sys.executable, "-c", nested], start_new_session=True)
    record.add("part", Process.of(part.pid, group=True))
    for holder in sys.argv[2:]:
        links = {int(fd): os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")}
        lock = next(fd for fd, path in links.items() if path.endswith("up.lock"))
        subprocess.Popen([holder, "600"], pass_fds=[lock], start_new_session=True)
    print("ready", flush=True)
    time.sleep(600)
"""
"""Starts what `up` starts: a reaper, and a part that has a child.

With a further argument the folder's lock is held by that program too, as by a kernel that is slow to release it.
"""


class Owner:
    """A process that owns a folder as `headgate up` does."""

    def __init__(self, folder: Path, *lock_holder: str) -> None:
        command = [sys.executable, "-c", OWNER, str(folder), *lock_holder]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"
        self.main = psutil.Process(self.process.pid)
        (self.reaper,) = (one for one in self.main.children() if "headgate.entrypoints.reaper" in one.cmdline())
        self.part, *self.lock_holders = (one for one in self.main.children() if one.pid != self.reaper.pid)
        while not self.part.children():
            pass
        self.family = [self.reaper, self.part, *self.part.children()]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    found = Owner(tmp_path)
    yield found
    if found.process.poll() is None:
        found.kill()
    for one in found.family:
        if lives(one):
            one.kill()


class TestReaper:
    def test_ends_the_processes_of_an_owner_that_was_killed_and_what_they_started(self, owner: Owner) -> None:
        owner.kill()
        assert await_ends(owner.family) == []

    def test_waits_for_the_lock_of_a_killed_owner(self, tmp_path: Path) -> None:
        owner = Owner(tmp_path, "sleep")
        (lock_holder,) = owner.lock_holders
        owner.kill()
        assert await_ends([owner.reaper], seconds=1.0) == [owner.reaper]
        assert lives(owner.part)
        lock_holder.kill()
        assert await_ends(owner.family) == []

    def test_leaves_the_processes_of_another_owner_alone(self, owner: Owner, tmp_path: Path) -> None:
        ProcessRecord(tmp_path).end_after(Process(1, "another start"))
        assert lives(owner.part)


class TestNextOwner:
    def test_ends_what_is_left_when_the_reaper_was_killed_too(self, owner: Owner, tmp_path: Path) -> None:
        owner.reaper.kill()
        owner.kill()
        assert lives(owner.part)
        with ProcessRecord(tmp_path).owned():
            assert await_ends(owner.family) == []

    def test_is_refused_while_the_first_lives(self, owner: Owner, tmp_path: Path) -> None:
        with pytest.raises(Conflict, match=f"as process {owner.process.pid}"), ProcessRecord(tmp_path).owned():
            pass
        assert lives(owner.part)

    def test_ends_no_process_that_only_has_the_id_of_a_recorded_one(self, tmp_path: Path) -> None:
        stranger = subprocess.Popen(["sleep", "600"], start_new_session=True)
        try:
            ProcessRecord(tmp_path).add("part", Process(stranger.pid, "another start", group=True))
            with ProcessRecord(tmp_path).owned():
                assert stranger.poll() is None
        finally:
            stranger.kill()
            stranger.wait()
