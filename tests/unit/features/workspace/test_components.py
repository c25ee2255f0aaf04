import os
from pathlib import Path
from typing import Any

import pytest

from headgate.features.workspace.components import (
    MAX_COMPONENT_SOURCE_BYTES,
    clear_components,
    read_components,
    register_component,
)
from headgate.features.workspace.errors import UserComponentError
from headgate.features.workspace.workspace import Workspace
from tests.support.workspaces import ALICE, BOB, NOBODY, everything, home, person, was_touched, workspace_in

CODE = "class SumComponent:\n    '''Über.'''\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return workspace_in(tmp_path)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path / "base"


class TestUserComponents:
    async def test_are_kept_per_person_also_with_auto_login(self, workspace: Workspace, base: Path) -> None:
        await register_component(workspace.for_agent(person(ALICE)), "SumComponent", CODE)
        kept = home(base, ALICE) / ".components" / "SumComponent.py"
        assert kept.read_text() == CODE
        assert not (base / "shared").exists()
        assert await read_components(workspace.for_agent(person(ALICE))) == {"SumComponent": CODE}
        assert await read_components(workspace.for_agent(person(BOB))) == {}

    async def test_replace_an_earlier_one_of_the_same_name(self, workspace: Workspace) -> None:
        mine = workspace.for_agent(person(ALICE))
        await register_component(mine, "SumComponent", CODE)
        await register_component(mine, "SumComponent", "x = 1\n")
        assert await read_components(mine) == {"SumComponent": "x = 1\n"}

    @pytest.mark.parametrize("auto_login", [True, False])
    async def test_of_nobody_are_refused_and_nothing_is_written(self, tmp_path: Path, auto_login: bool) -> None:
        anonymous = workspace_in(tmp_path, auto_login=auto_login).for_agent(person(NOBODY))
        with pytest.raises(UserComponentError, match="requires an authenticated user"):
            await register_component(anonymous, "SumComponent", CODE)
        assert not (tmp_path / "base").exists()

    @pytest.mark.parametrize(
        "name",
        ["../escape", "subdir/Nested", "Sum/Component", "Sum\\Component", "\x00null", "Sum:Colon", "", "sum", "_Sum",
         ".Sum", "Sum.py", "Sum_A", "Sum ", "Sum\n", "Ünder", "A\u0301"],
    )  # fmt: skip
    async def test_reject_names_that_are_no_class_names(self, workspace: Workspace, base: Path, name: str) -> None:
        with pytest.raises(UserComponentError, match="is not valid"):
            await register_component(workspace.for_agent(person(ALICE)), name, CODE)
        assert not was_touched(base)

    @pytest.mark.parametrize("name", ["CON", "NUL", "AUX", "PRN", "COM1", "LPT9", "Con", "Nul"])
    async def test_reject_windows_devices(self, workspace: Workspace, base: Path, name: str) -> None:
        with pytest.raises(UserComponentError, match="device"):
            await register_component(workspace.for_agent(person(ALICE)), name, CODE)
        assert not was_touched(base)

    async def test_have_names_of_at_most_64_characters(self, workspace: Workspace, base: Path) -> None:
        mine = workspace.for_agent(person(ALICE))
        with pytest.raises(UserComponentError, match="length 65 exceeds max 64"):
            await register_component(mine, "A" + "a" * 64, CODE)
        assert not was_touched(base)
        await register_component(mine, "A" + "a" * 63, CODE)
        assert list(await read_components(mine)) == ["A" + "a" * 63]

    @pytest.mark.parametrize("code", ["", " \n", "x = '\ud800'", "#" * (MAX_COMPONENT_SOURCE_BYTES + 1)])
    async def test_reject_sources_that_are_empty_too_large_or_no_text(
        self, workspace: Workspace, base: Path, code: str
    ) -> None:
        with pytest.raises(UserComponentError):
            await register_component(workspace.for_agent(person(ALICE)), "SumComponent", code)
        assert not was_touched(base)

    async def test_take_a_source_of_one_mebibyte(self, workspace: Workspace) -> None:
        mine = workspace.for_agent(person(ALICE))
        await register_component(mine, "Large", "#" * MAX_COMPONENT_SOURCE_BYTES)
        assert len((await read_components(mine))["Large"]) == MAX_COMPONENT_SOURCE_BYTES

    async def test_survive_a_write_that_breaks_off(
        self, workspace: Workspace, base: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mine = workspace.for_agent(person(ALICE))
        await register_component(mine, "SumComponent", CODE)

        def broken(*_: Any, **__: Any) -> None:
            raise OSError(5, "Input/output error")

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", broken)
            with pytest.raises(UserComponentError, match="Input/output error"):
                await register_component(mine, "SumComponent", "x = 1\n")
        assert (home(base, ALICE) / ".components" / "SumComponent.py").read_text() == CODE
        assert everything(base) == [f"users/{home(base, ALICE).name}/.components/SumComponent.py"]

    async def test_are_written_into_no_folder_that_a_link_leads_to(
        self, workspace: Workspace, base: Path, tmp_path: Path
    ) -> None:
        mine = workspace.for_agent(person(ALICE))
        await register_component(mine, "SumComponent", CODE)
        folder = home(base, ALICE) / ".components"
        folder.rename(tmp_path / "moved")
        folder.symlink_to(tmp_path / "moved")
        with pytest.raises(UserComponentError):
            await register_component(mine, "Other", CODE)
        assert everything(tmp_path / "moved") == ["SumComponent.py"]
        assert await read_components(mine) == {}
        assert await clear_components(mine) == 0


class TestReadComponents:
    async def test_skips_broken_and_unsafe_files(self, workspace: Workspace, base: Path, tmp_path: Path) -> None:
        mine = workspace.for_agent(person(ALICE))
        await register_component(mine, "SumComponent", CODE)
        folder = home(base, ALICE) / ".components"
        (folder / "Broken.py").write_text("class Broken(:\n")
        (folder / "Latin.py").write_bytes(b"# \xff\n")
        (folder / "Nul.py").write_text(CODE)
        (folder / "Zero.py").write_bytes(b"x = 1\0")
        (folder / "lower.py").write_text(CODE)
        (folder / "Notes.txt").write_text("notes")
        (folder / "Folder.py").mkdir()
        (folder / "Huge.py").write_text("#" * (MAX_COMPONENT_SOURCE_BYTES + 1))
        (tmp_path / "secret.py").write_text("x = 'secret'\n")
        (folder / "Link.py").symlink_to(tmp_path / "secret.py")
        (folder / "Hard.py").hardlink_to(tmp_path / "secret.py")
        os.mkfifo(folder / "Pipe.py")
        assert await read_components(mine) == {"SumComponent": CODE}

    async def test_sees_what_was_changed_since(self, workspace: Workspace, base: Path) -> None:
        mine = workspace.for_agent(person(ALICE))
        await register_component(mine, "SumComponent", CODE)
        assert await read_components(mine) == {"SumComponent": CODE}
        file = home(base, ALICE) / ".components" / "SumComponent.py"
        times = file.stat().st_atime_ns, file.stat().st_mtime_ns
        file.write_text(CODE.replace(":", "(", 1))
        os.utime(file, ns=times)
        assert await read_components(mine) == {}


class TestClearComponents:
    async def test_removes_sources_only_and_counts_them(self, workspace: Workspace, base: Path) -> None:
        mine = workspace.for_agent(person(ALICE))
        assert await clear_components(mine) == 0
        for name in ("One", "Two"):
            await register_component(mine, name, CODE)
        (home(base, ALICE) / ".components" / "notes.txt").write_text("notes")
        await register_component(workspace.for_agent(person(BOB)), "Three", CODE)
        assert await clear_components(mine) == 2
        assert await clear_components(mine) == 0
        assert everything(home(base, ALICE)) == [".components/notes.txt"]
        assert list(await read_components(workspace.for_agent(person(BOB)))) == ["Three"]
