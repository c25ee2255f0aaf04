"""A person's own components: kept, found again, theirs alone, gone with the session (scenarios of seed 000)."""

import shutil
from pathlib import Path
from types import ModuleType

import pytest

from headgate.agents.assistant.generation import personal as own
from headgate.agents.assistant.generation.personal import PersonalComponents
from headgate.agents.assistant.memory.conversation import ConversationTurn, session_key
from headgate.agents.assistant.memory.in_database import DatabaseBuffer
from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.agents.assistant.sessions.service import reset_session
from headgate.components import BUILTINS
from headgate.features.access.principal import LOCAL, Access, Principal
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import component_index
from headgate.features.workspace.errors import UserComponentError
from headgate.features.workspace.workspace import Workspace
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from headgate.foundation.telemetry import Instruments
from headgate.graph.model import Flow, Node
from headgate.graph.template import Template
from headgate.sandbox.reading.manifest import derive_manifest
from headgate.sdk.hosting import describe
from tests.support.keyrings import data_keys
from tests.support.tenants import add_person

REGISTRY = Registry(BUILTINS)
INDEX = component_index(REGISTRY)
ALICE = LOCAL
BOB = Principal(LOCAL.tenant_id, "00000000-0000-7000-8000-00000000000b", LOCAL.space_id, Access(admin=True))
NOBODY = Principal(LOCAL.tenant_id, "", LOCAL.space_id, Access(admin=True))


def source(name: str, says: str = "Adds two numbers.") -> str:
    return f'''from headgate.sdk import Component, Data, field, output


class {name}(Component):
    """{says}"""

    a: float = field(main=True, tool_mode=True)
    b: float = field(tool_mode=True)

    @output()
    def add_numbers(self) -> Data:
        """The sum."""
        return {{"sum": self.a + self.b}}
'''


def checked(code: str) -> CheckedComponent:
    """What the sandbox finds out about code; here in this process, for it is the test's own."""
    module = ModuleType("own")
    exec(compile(code, "own.py", "exec"), module.__dict__)
    return CheckedComponent(code, Template.model_validate(describe(module, {})["template"]), derive_manifest(code))


class Counting(Instruments):
    """Remembers what was counted."""

    def __init__(self) -> None:
        self.counted: dict[tuple[str, ...], float] = {}

    def count(self, key: str, *labels: str, amount: float = 1) -> None:
        self.counted[key, *labels] = self.counted.get((key, *labels), 0) + amount


@pytest.fixture
def counting() -> Counting:
    return Counting()


@pytest.fixture
def kept(database: Database, settings: Settings, counting: Counting) -> PersonalComponents:
    return PersonalComponents(database, Workspace(settings), REGISTRY, AssistantMetrics(counting))


def folder(settings: Settings) -> Path:
    (found,) = (settings.data_dir / "workspace").glob("users/*/.components")
    return found


class TestKeep:
    async def test_writes_the_source_for_the_persons_next_requests(
        self, kept: PersonalComponents, settings: Settings, counting: Counting
    ) -> None:
        code = source("SumComponent")
        assert await kept.keep(ALICE, checked(code)) == ""
        assert (folder(settings) / "SumComponent.py").read_text(encoding="utf-8") == code
        overlay = Overlay(REGISTRY, INDEX, await kept.own_components(ALICE))
        assert overlay.code("SumComponent") == code
        assert "SumComponent" in [one.type for one in overlay.search("add two numbers")]
        assert counting.counted["assistant_user_component_registered",] == 1

    async def test_overwrites_one_of_the_same_name(self, kept: PersonalComponents, settings: Settings) -> None:
        later = source("SumComponent", "Adds numbers, and better.")
        await kept.keep(ALICE, checked(source("SumComponent")))
        await kept.keep(ALICE, checked(later))
        (found,) = await kept.own_components(ALICE)
        assert (found.code, found.template.description) == (later, "Adds numbers, and better.")
        assert [one.name for one in folder(settings).iterdir()] == ["SumComponent.py"]

    async def test_is_the_persons_alone(self, kept: PersonalComponents) -> None:
        await kept.keep(ALICE, checked(source("AliceSum")))
        await kept.keep(BOB, checked(source("BobSum")))
        assert [one.type for one in await kept.own_components(ALICE)] == ["AliceSum"]
        assert [one.type for one in await kept.own_components(BOB)] == ["BobSum"]

    async def test_of_nobody_refuses_and_lets_the_answer_go_on(
        self, kept: PersonalComponents, settings: Settings, counting: Counting
    ) -> None:
        assert "authenticated user" in await kept.keep(NOBODY, checked(source("SumComponent")))
        assert not list((settings.data_dir / "workspace").glob("users/*/.components"))
        assert counting.counted["assistant_user_component_register_refused", "anonymous_user"] == 1
        assert await kept.own_components(NOBODY) == ()

    async def test_tells_of_a_name_that_cannot_be_kept(self, kept: PersonalComponents, counting: Counting) -> None:
        made = checked(source("A" + "a" * 64))
        assert "length 65 exceeds max 64" in await kept.keep(ALICE, made)
        assert counting.counted["assistant_user_component_register_refused", "length_exceeded"] == 1
        assert await kept.keep(ALICE, checked(source("A" + "a" * 63))) == ""

    async def test_raises_when_the_disk_refuses(self, kept: PersonalComponents, settings: Settings) -> None:
        await kept.keep(ALICE, checked(source("SumComponent")))
        place = folder(settings)
        shutil.rmtree(place)
        place.write_text("not a folder")
        with pytest.raises(UserComponentError):
            await kept.keep(ALICE, checked(source("SumComponent")))

    async def test_has_an_end(
        self, kept: PersonalComponents, counting: Counting, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(own, "MAX_COMPONENTS", 1)
        await kept.keep(ALICE, checked(source("First")))
        assert "components can be stored. Start a new session to remove them" in await kept.keep(
            ALICE, checked(source("Second"))
        )
        assert await kept.keep(ALICE, checked(source("First", "Again."))) == ""
        assert counting.counted["assistant_user_component_register_refused", "too_many"] == 1


class TestOwnComponents:
    async def test_passes_over_broken_files_and_code_that_was_never_checked(
        self, kept: PersonalComponents, settings: Settings, counting: Counting
    ) -> None:
        await kept.keep(ALICE, checked(source("SumComponent")))
        (folder(settings) / "BrokenComponent.py").write_text("class Broken(")
        (folder(settings) / "PlantedComponent.py").write_text(source("PlantedComponent"))
        assert [one.type for one in await kept.own_components(ALICE)] == ["SumComponent"]
        assert counting.counted["assistant_user_component_overlay_skipped", "unchecked"] == 1

    async def test_passes_over_a_file_that_holds_another_class(
        self, kept: PersonalComponents, settings: Settings
    ) -> None:
        await kept.keep(ALICE, checked(source("SumComponent")))
        shutil.copy(folder(settings) / "SumComponent.py", folder(settings) / "OtherComponent.py")
        assert [one.type for one in await kept.own_components(ALICE)] == ["SumComponent"]

    async def test_leaves_built_in_components_as_they_are(
        self, kept: PersonalComponents, settings: Settings, counting: Counting
    ) -> None:
        code = source("ChatInput")
        await kept.keep(ALICE, checked(code))
        overlay = Overlay(REGISTRY, INDEX, await kept.own_components(ALICE))
        assert overlay.template("ChatInput") == REGISTRY.template("ChatInput")
        assert (folder(settings) / "ChatInput.py").read_text() == code
        assert counting.counted["assistant_user_component_overlay_skipped", "shadowed"] == 1

    async def test_prefers_the_code_that_the_flow_carries(self, kept: PersonalComponents) -> None:
        old, new = source("SumComponent"), source("SumComponent", "Newer.")
        for code in (old, new):
            await kept.keep(ALICE, checked(code))
        flow = Flow(nodes=(Node(id="sum", type="SumComponent", code=old),))
        overlay = Overlay(REGISTRY, INDEX, await kept.own_components(ALICE, flow))
        assert overlay.code("SumComponent") == old
        assert [one.code for one in await kept.own_components(BOB, flow)] == [old]

    async def test_knows_code_whatever_became_of_its_line_ends(
        self, kept: PersonalComponents, settings: Settings
    ) -> None:
        code = source("SumComponent")
        await kept.keep(ALICE, checked(code))
        (folder(settings) / "SumComponent.py").write_bytes(code.replace("\n", "\r\n").encode())
        flow = Flow(nodes=(Node(id="sum", type="SumComponent", code=code),))
        assert [one.type for one in await kept.own_components(ALICE, flow)] == ["SumComponent"] * 2

    async def test_reads_nothing_of_other_tenants(self, kept: PersonalComponents) -> None:
        code = source("SumComponent")
        await kept.keep(ALICE, checked(code))
        elsewhere = Principal("00000000-0000-7000-8000-0000000000ff", ALICE.user_id, "", Access(admin=True))
        flow = Flow(nodes=(Node(id="sum", type="SumComponent", code=code),))
        assert await kept.own_components(elsewhere, flow) == ()


class TestResetSession:
    @pytest.fixture
    def memory(self, database: Database) -> DatabaseBuffer:
        return DatabaseBuffer(database, 60, data_keys(database))

    async def test_forgets_the_conversation_and_the_components_of_the_caller_alone(
        self,
        kept: PersonalComponents,
        memory: DatabaseBuffer,
        database: Database,
        counting: Counting,
    ) -> None:
        await add_person(database, BOB, name="Bob")
        for who in (ALICE, BOB):
            await memory.push_async(session_key(who, "shared-id"), ConversationTurn("hi", "hello"))
            for name in ("SumComponent", "MultiplyComponent"):
                await kept.keep(who, checked(source(name)))
        done = await reset_session(ALICE, "shared-id", memory=memory, components=kept)
        assert done.model_dump() == {"status": "ok", "components_cleared": 2, "session_id": "shared-id"}
        assert await kept.own_components(ALICE) == ()
        assert list(await memory.get_recent(session_key(ALICE, "shared-id"))) == []
        assert len(await kept.own_components(BOB)) == 2
        assert len(await memory.get_recent(session_key(BOB, "shared-id"))) == 1
        assert counting.counted["assistant_session_reset",] == 1
        assert counting.counted["assistant_session_reset_components_cleared",] == 2

    async def test_may_be_done_again(self, kept: PersonalComponents, memory: DatabaseBuffer) -> None:
        for _ in range(2):
            done = await reset_session(ALICE, None, memory=memory, components=kept)
            assert done.model_dump() == {"status": "ok", "components_cleared": 0, "session_id": None}

    async def test_leaves_other_files_of_the_person(
        self, kept: PersonalComponents, memory: DatabaseBuffer, settings: Settings
    ) -> None:
        await kept.keep(ALICE, checked(source("SumComponent")))
        (folder(settings).parent / "notes.md").write_text("mine")
        (folder(settings) / "data.json").write_text("{}")
        await reset_session(ALICE, "x", memory=memory, components=kept)
        assert (folder(settings).parent / "notes.md").read_text() == "mine"
        assert [one.name for one in folder(settings).iterdir()] == ["data.json"]

    async def test_leaves_code_in_flows_usable(self, kept: PersonalComponents, memory: DatabaseBuffer) -> None:
        code = source("SumComponent")
        await kept.keep(ALICE, checked(code))
        await reset_session(ALICE, "x", memory=memory, components=kept)
        flow = Flow(nodes=(Node(id="sum", type="SumComponent", code=code),))
        assert [one.type for one in await kept.own_components(ALICE, flow)] == ["SumComponent"]
