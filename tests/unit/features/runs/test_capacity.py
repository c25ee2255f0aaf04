"""When starts are refused, and when they are allowed again."""

from pathlib import Path

import pytest

from headgate.features.runs.capacity import RETRY_SECONDS, Capacity, CapacityShort, available_memory
from headgate.foundation.settings import EngineSettings
from tests.support.disks import SmallDisk


class Clock:
    """Seconds that pass when the test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def capacity(folder: Path, clock: Clock, memory: int | None = None, **settings: object) -> Capacity:
    return Capacity(EngineSettings.model_validate(settings), folder, lambda: memory, clock)


class TestCapacity:
    def test_refuses_on_a_full_disk_and_allows_when_it_is_free_again(self, small_disk: SmallDisk) -> None:
        clock = Clock()
        admission = capacity(small_disk.path, clock)
        admission.require(0.0)
        small_disk.fill()
        clock.now += 1
        with pytest.raises(CapacityShort, match="of disk are free") as caught:
            admission.require(0.0)
        problem = caught.value.problem()
        assert (problem["status"], problem["code"], problem["retry_after_seconds"]) == (
            503,
            "capacity_short",
            RETRY_SECONDS,
        )
        small_disk.empty()
        clock.now += 1
        admission.require(0.0)

    def test_looks_at_the_disk_twice_a_second_at_most(self, small_disk: SmallDisk) -> None:
        clock = Clock()
        admission = capacity(small_disk.path, clock)
        admission.require(0.0)
        small_disk.fill()
        admission.require(0.0)

    def test_refuses_while_memory_is_short(self, tmp_path: Path) -> None:
        with pytest.raises(CapacityShort, match="of memory are free"):
            capacity(tmp_path, Clock(), memory=1000).require(0.0)
        capacity(tmp_path, Clock(), memory=1000, min_free_memory_bytes=0).require(0.0)
        capacity(tmp_path, Clock(), memory=None).require(0.0)

    def test_refuses_while_writes_wait(self, tmp_path: Path) -> None:
        admission = capacity(tmp_path, Clock(), max_write_wait_seconds=2)
        admission.require(2.0)
        with pytest.raises(CapacityShort, match=r"waited 2\.5 seconds"):
            admission.require(2.5)
        capacity(tmp_path, Clock(), max_write_wait_seconds=None).require(3600.0)

    def test_refuses_while_requests_wait_for_a_connection(self, tmp_path: Path) -> None:
        waits = [2.0, 2.5, 0.0]
        settings = EngineSettings(max_write_wait_seconds=2)
        wanted = Capacity(settings, tmp_path, lambda: None, connection_wait=lambda: waits.pop(0))
        wanted.require(0.0)
        with pytest.raises(CapacityShort, match=r"connections are in use, .* waited 2\.5 seconds"):
            wanted.require(0.0)
        wanted.require(0.0)

    def test_can_be_switched_off(self, small_disk: SmallDisk) -> None:
        small_disk.fill()
        capacity(small_disk.path, Clock(), min_free_disk_bytes=0, min_free_memory_bytes=0).require(0.0)


class TestAvailableMemory:
    def test_is_the_less_of_the_machines_and_the_control_groups(self, tmp_path: Path) -> None:
        meminfo = tmp_path / "meminfo"
        meminfo.write_text("MemTotal: 900 kB\nMemAvailable: 500 kB\n")
        group = tmp_path / "group"
        group.mkdir()
        assert available_memory((group,), meminfo) == 512_000
        (group / "memory.max").write_text("100000\n")
        (group / "memory.current").write_text("90000\n")
        (group / "memory.stat").write_text("anon 50000\ninactive_file 30000\n")
        assert available_memory((group,), meminfo) == 40_000
        (group / "memory.max").write_text("max\n")
        assert available_memory((group,), meminfo) == 512_000
        assert available_memory((), tmp_path / "nowhere") is None
