"""The scenarios of seed 003, and those of seed 000 about files and components, one test each."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.features.workspace.components import register_component
from headgate.features.workspace.places import Owner
from headgate.features.workspace.user_workspace import UserWorkspace
from headgate.foundation.ids import new_id
from tests.support.workspaces import ALICE, BOB, NOBODY, everything, home, person, was_touched, workspace_in

REFUSED = "FileSystemTool requires an authenticated user when AUTO_LOGIN=False"
MISMATCH = "tool/user-id mismatch: this tool was bound to a different user session and cannot be reused"

AS_NOBODY = """
import asyncio, concurrent.futures.thread, json, os
from headgate.features.workspace.workspace import Workspace
from headgate.foundation.settings import Settings
from tests.support.workspaces import ALICE
settings = Settings.model_validate(
    {"workspace": {"base_dir": "/headgate-not-writable/fs"}, "server": {"auto_login": False}}
)
if os.getuid() == 0:
    os.setuid(65534)
print(json.dumps(asyncio.run(Workspace(settings).for_flow(lambda: ALICE).write_file("a.md", "x"))))
"""


def flow(folder: Path, owner: Owner, *, auto_login: bool = False, root_path: str = "") -> UserWorkspace:
    """The workspace of a step that works for somebody."""
    return workspace_in(folder, auto_login=auto_login).for_flow(lambda: owner, root_path=root_path)


class TestSharedMode:
    async def test_single_user_writes_land_in_the_shared_folder(self, tmp_path: Path) -> None:
        assert (await flow(tmp_path, ALICE, auto_login=True).write_file("dog.md", "woof"))["status"] == "created"
        assert everything(tmp_path / "base") == ["shared/dog.md"]
        assert not was_touched(tmp_path / "base" / "users")

    async def test_is_one_folder_for_everybody_and_also_for_nobody(self, tmp_path: Path) -> None:
        await flow(tmp_path, ALICE, auto_login=True).write_file("dog.md", "woof")
        for owner in (BOB, NOBODY):
            assert (await flow(tmp_path, owner, auto_login=True).read_file("dog.md"))["status"] == "ok"

    async def test_is_of_the_local_users_tenant_only(self, tmp_path: Path) -> None:
        await flow(tmp_path, ALICE, auto_login=True).write_file("dog.md", "woof")
        tenant = new_id()
        other = await flow(tmp_path, Owner(tenant, "carol"), auto_login=True).read_file("dog.md")
        assert other["error"] == "File not found: dog.md"
        nobody = await flow(tmp_path, Owner(tenant, ""), auto_login=True).read_file("dog.md")
        assert "requires an authenticated user" in str(nobody["error"])

    async def test_user_id_is_no_part_of_the_boundary(self, tmp_path: Path) -> None:
        now = [ALICE]
        tools = workspace_in(tmp_path).for_flow(lambda: now[0])
        await tools.write_file("dog.md", "woof")
        now[0] = BOB
        assert (await tools.read_file("dog.md"))["status"] == "ok"

    async def test_empty_root_path_is_the_namespace_and_not_the_working_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "cwd").mkdir()
        (tmp_path / "cwd" / "leak.txt").write_text("secret")
        monkeypatch.chdir(tmp_path / "cwd")
        found = await flow(tmp_path, ALICE, auto_login=True).read_file("leak.txt")
        assert found == {"error": "File not found: leak.txt", "path": "leak.txt"}


class TestIsolatedMode:
    async def test_authenticated_writes_land_in_a_folder_of_ones_own(self, tmp_path: Path) -> None:
        await flow(tmp_path, ALICE).write_file("notes.md", "mine")
        mine = home(tmp_path / "base", ALICE)
        assert (mine / "notes.md").read_text() == "mine"
        assert re.fullmatch(r"[0-9a-f]{32}", mine.name)
        assert not was_touched(tmp_path / "base" / "shared")

    async def test_other_users_files_are_not_there(self, tmp_path: Path) -> None:
        await flow(tmp_path, ALICE).write_file("secret.txt", "mine")
        found = await flow(tmp_path, BOB).read_file("secret.txt")
        assert found == {"error": "File not found: secret.txt", "path": "secret.txt"}
        assert everything(home(tmp_path / "base", BOB)) == []

    async def test_other_tenants_user_of_the_same_id_has_another_folder(self, tmp_path: Path) -> None:
        await flow(tmp_path, ALICE).write_file("secret.txt", "mine")
        other = await flow(tmp_path, Owner(new_id(), ALICE.user_id)).read_file("secret.txt")
        assert other["error"] == "File not found: secret.txt"

    async def test_folder_is_the_same_after_a_restart(self, tmp_path: Path) -> None:
        await flow(tmp_path, ALICE).write_file("notes.md", "mine")
        assert (await flow(tmp_path, ALICE).read_file("notes.md"))["status"] == "ok"

    async def test_path_to_anothers_folder_escapes(self, tmp_path: Path) -> None:
        await flow(tmp_path, ALICE).write_file("secret.txt", "mine")
        path = f"../../{home(tmp_path / 'base', ALICE).name}/secret.txt"
        found = await flow(tmp_path, BOB).read_file(path)
        assert found == {"error": f"Path escapes workspace boundary: {path}", "path": path}

    async def test_agents_folder_is_theirs_alone_also_with_auto_login(self, tmp_path: Path) -> None:
        workspace = workspace_in(tmp_path)
        await workspace.for_agent(person(ALICE)).write_file("dog.md", "woof")
        assert everything(tmp_path / "base") == [f"users/{home(tmp_path / 'base', ALICE).name}/dog.md"]
        for other in (workspace.for_agent(person(BOB)), workspace.for_flow(lambda: ALICE)):
            assert (await other.read_file("dog.md"))["error"] == "File not found: dog.md"

    async def test_sub_path_is_where_paths_begin(self, tmp_path: Path) -> None:
        await flow(tmp_path, ALICE, root_path="reports/2026").write_file("a.md", "x")
        assert everything(home(tmp_path / "base", ALICE)) == ["reports/2026/a.md"]
        inside = flow(tmp_path, ALICE, root_path="reports/2026")
        assert (await inside.read_file("../2026/a.md"))["error"] == "Path escapes workspace boundary: ../2026/a.md"
        assert (await inside.glob_search("**"))["matches"] == ["a.md"]

    @pytest.mark.parametrize("root_path", ["../other", "/etc", ".components", "a\\b", "CON"])
    async def test_sub_path_keeps_the_rules_of_paths(self, tmp_path: Path, root_path: str) -> None:
        found = await flow(tmp_path, ALICE, root_path=root_path).write_file("a.md", "x")
        assert set(found) == {"error", "path"}
        assert not was_touched(tmp_path / "base")


class TestRefusedMode:
    async def test_anonymous_calls_are_refused_and_nothing_is_written(self, tmp_path: Path) -> None:
        tools = flow(tmp_path, NOBODY)
        for answer in (
            await tools.read_file("a.md"),
            await tools.write_file("a.md", "x"),
            await tools.edit_file("a.md", "x", "y"),
            await tools.glob_search("**"),
            await tools.grep_search("x"),
        ):
            assert answer["error"] == REFUSED
        assert not was_touched(tmp_path / "base")


class TestBoundary:
    @pytest.mark.parametrize("auto_login", [True, False])
    async def test_parent_folders_are_refused(self, tmp_path: Path, auto_login: bool) -> None:
        found = await flow(tmp_path, ALICE, auto_login=auto_login).read_file("../../etc/passwd")
        assert found == {"error": "Path escapes workspace boundary: ../../etc/passwd", "path": "../../etc/passwd"}

    @pytest.mark.parametrize("auto_login", [True, False])
    @pytest.mark.parametrize("segment", [".lfsig", ".components"])
    async def test_reserved_segments_are_blocked_in_every_mode(
        self, tmp_path: Path, auto_login: bool, segment: str
    ) -> None:
        tools = flow(tmp_path, ALICE, auto_login=auto_login)
        for spelled in (segment, segment.upper(), segment.title()):
            path = f"{spelled}/poison.json"
            refused = {"error": f"Path component '{segment}' is reserved", "path": path}
            assert await tools.write_file(path, "{}") == refused
            assert await tools.read_file(path) == refused
            assert await tools.edit_file(path, "a", "b") == refused
            assert await tools.grep_search("x", path) == refused
            assert await tools.glob_search("*", path) == refused
            assert (await tools.glob_search(path))["error"] == refused["error"]
        assert everything(tmp_path / "base") == []

    async def test_agents_tools_neither_read_nor_find_components(self, tmp_path: Path) -> None:
        mine = workspace_in(tmp_path).for_agent(person(ALICE))
        await register_component(mine, "SumComponent", "class SumComponent: ...\n")
        path = ".components/SumComponent.py"
        assert await mine.read_file(path) == {"error": "Path component '.components' is reserved", "path": path}
        for pattern in ("**", "*/*.py", ".c*/**", "**/SumComponent.py"):
            assert (await mine.glob_search(pattern))["matches"] == []
        assert (await mine.grep_search("class"))["matches"] == []


class TestUnwritableBase:
    def test_is_told_as_a_person_can_mend_it(self) -> None:
        run = subprocess.run([sys.executable, "-c", AS_NOBODY], capture_output=True, text=True, check=True)
        assert json.loads(run.stdout) == {
            "error": "Cannot create user namespace at /headgate-not-writable/fs/users: Permission denied. Check that "
            "HEADGATE_WORKSPACE__BASE_DIR (/headgate-not-writable/fs) is writable by the Headgate process user.",
            "path": "a.md",
        }

    async def test_names_the_folder_that_could_not_be_made(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await flow(tmp_path, ALICE).write_file("a.md", "x")
        real = os.mkdir

        def mkdir(path: str, *args: int, **kwargs: int) -> None:
            if re.fullmatch(r"[0-9a-f]{32}", str(path)):
                raise PermissionError(13, "Permission denied")
            real(path, *args, **kwargs)

        monkeypatch.setattr(os, "mkdir", mkdir)
        found = await flow(tmp_path, BOB).write_file("a.md", "x")
        place = home(tmp_path / "base", BOB)
        assert str(found["error"]).startswith(f"Cannot create user namespace at {place}: Permission denied. Check that")


class TestToolBinding:
    async def test_tools_refuse_another_user(self, tmp_path: Path) -> None:
        now = [ALICE]
        tools = workspace_in(tmp_path, auto_login=False).for_flow(lambda: now[0])
        await tools.write_file("notes.md", "mine")
        now[0] = BOB
        assert await tools.read_file("notes.md") == {"error": MISMATCH, "path": "notes.md"}
        assert (await tools.write_file("notes.md", "theirs"))["error"] == MISMATCH
        now[0] = ALICE
        assert (await tools.read_file("notes.md"))["content"] == "     1→mine"

    async def test_tools_made_for_nobody_are_nobodys(self, tmp_path: Path) -> None:
        now = [NOBODY]
        tools = workspace_in(tmp_path, auto_login=False).for_flow(lambda: now[0])
        now[0] = ALICE
        assert (await tools.read_file("notes.md"))["error"] == MISMATCH
        assert not was_touched(tmp_path / "base")
