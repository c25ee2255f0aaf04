"""Keys that the work needs, runs as trials, and cases that are kept."""

import asyncio

import pytest
from pydantic import SecretStr
from sqlalchemy import select

from headgate.agents.codev.domain import CredentialField, Held
from headgate.agents.codev.domains.headgate.workplace import HeadgateWorkplace
from headgate.agents.codev.vault import CredentialIncomplete, UnknownCredential
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.development.opening import FlowTests
from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import Role
from headgate.features.access.principal import LOCAL, Access, Principal
from headgate.features.audit.tables import AuditEvent
from headgate.features.flows.errors import FlowNotFound
from headgate.features.runs import service as runs
from headgate.features.secrets import service as variables
from headgate.features.secrets.errors import BadVariable
from headgate.features.testing.service import list_cases
from headgate.foundation.ids import new_id
from headgate.graph.cases import Expectation, TestCase
from tests.support.own_place import GREETING, changed, open_place
from tests.support.people import add_space_row

KEY = "sk-" + "abcdefghijklmnop1234"
SLOW = """
name: Slow
nodes:
  who: ChatInput
  wait: Wait
    seconds: 60
  out: ChatOutput
edges:
  who.text -> wait.value
  wait.value -> out.input
"""
FORM = """
name: Form
nodes:
  form: FormInput
  out: ChatOutput
edges:
  form.text -> out.input
form:
  topic: text
    required: true
"""
BROKEN = """
name: Broken
nodes:
  who: ChatInput
  words: ParseJSON
  out: ChatOutput
edges:
  who.text -> words.text
  words.data -> out.input
"""


@pytest.fixture
async def place(parts: Parts) -> HeadgateWorkplace:
    return await open_place(parts)


class TestMissing:
    async def test_are_those_that_are_named_and_not_there(self, place: HeadgateWorkplace) -> None:
        found = await place.missing_credentials(["CRM_TOKEN", " OpenAI ", "CRM_TOKEN"])
        assert [one.type for one in found] == ["CRM_TOKEN", "openai"]
        assert found[0].fields == (CredentialField("CRM_TOKEN", "CRM_TOKEN"),)
        assert "OPENAI_API_KEY" in [field.name for field in found[1].fields if field.secret and not field.optional]
        assert found[1].label == "OpenAI"
        assert all(one.where for one in found)

    async def test_are_none_once_they_are_added(self, place: HeadgateWorkplace) -> None:
        await place.add_credential("openai", "", {"OPENAI_API_KEY": KEY})
        await place.add_credential("CRM_TOKEN", "ours", {"CRM_TOKEN": KEY})
        assert list(await place.missing_credentials(["openai", "OPENAI_API_KEY", "CRM_TOKEN"])) == []

    async def test_a_provider_and_its_variable_are_asked_for_once(self, place: HeadgateWorkplace) -> None:
        found = await place.missing_credentials(["OPENAI_API_KEY", "openai"])
        assert [one.type for one in found] == ["openai"]
        alone = await place.missing_credentials(["OPENAI_API_KEY"])
        assert alone[0].label == "OPENAI_API_KEY (OpenAI)"

    async def test_a_providers_id_is_read_in_any_spelling(self, place: HeadgateWorkplace) -> None:
        found = await place.missing_credentials(["OpenAI-Compatible", "ANTHROPIC"])
        assert [one.type for one in found] == ["openai_compatible", "anthropic"]
        assert found[0].fields[0].name == "OPENAI_COMPATIBLE_BASE_URL"
        assert found[0].fields[0].secret is False

    async def test_what_cannot_be_a_name_is_left_out(self, place: HeadgateWorkplace) -> None:
        hostile = ["", "none of them", "<script>", "HEADGATE_SECRET_KEY", "headgate_x", "x" * 200, "../etc", "A\x00B"]
        assert list(await place.missing_credentials(hostile)) == []

    async def test_are_asked_for_up_to_a_number(self, place: HeadgateWorkplace) -> None:
        assert len(await place.missing_credentials([f"TOKEN_{number}" for number in range(60)])) == 20

    async def test_of_models_on_this_machine_say_where_to_fetch_them(self, place: HeadgateWorkplace) -> None:
        found = await place.missing_credentials(["local"])
        assert found[0].fields == ()
        assert "headgate models pull" in found[0].where


class TestAdding:
    async def test_is_audited_and_never_told(self, parts: Parts, place: HeadgateWorkplace) -> None:
        await place.add_credential("CRM_TOKEN", "ours", {"CRM_TOKEN": KEY})
        value = await parts.keys_of(LOCAL, "test").key("CRM_TOKEN")
        assert value is not None
        assert value.get_secret_value() == KEY
        async with parts.database.reading() as session:
            rows = (await session.execute(select(AuditEvent).where(AuditEvent.action == "variable.set"))).scalars()
            told = [{name: getattr(row, name) for name in row.__table__.columns.keys()} for row in rows]  # noqa: SIM118
        assert len(told) == 1
        assert KEY not in str(told)

    async def test_keeps_a_variable_for_the_server_it_is_for(self, parts: Parts, place: HeadgateWorkplace) -> None:
        hosts = ["https://crm.example"]
        async with parts.database.writing() as session:
            await variables.set_variable(
                session, LOCAL, parts.box, name="CRM_TOKEN", value=SecretStr("old"), hosts=hosts
            )
        await place.add_credential("CRM_TOKEN", "", {"CRM_TOKEN": KEY})
        async with parts.database.reading() as session:
            rows = await variables.list_variables(session, LOCAL)
        assert [(row.name, row.hosts) for row in rows] == [("CRM_TOKEN", hosts)]

    async def test_is_for_those_who_manage_variables(self, parts: Parts) -> None:
        space = await add_space_row(parts.database, "Team")
        person = Principal(LOCAL.tenant_id, "", space, Access(roles={space: Role.PUBLISHER}))
        place = await open_place(parts, person)
        with pytest.raises(PermissionMissing) as refused:
            await place.add_credential("CRM_TOKEN", "", {"CRM_TOKEN": KEY})
        assert refused.value.remedy == (
            "Owners of the space have this permission, and so do admins. Ask an owner, or an admin of your"
            " organisation."
        )
        assert await parts.keys_of(LOCAL, "test").key("CRM_TOKEN") is None

    @pytest.mark.parametrize(
        ("type_", "values", "error"),
        [
            ("openai", {"CRM_TOKEN": KEY}, CredentialIncomplete),
            ("openai", {"OPENAI_API_KEY": "  "}, CredentialIncomplete),
            ("openai", {"OPENAI_API_KEY": KEY, "ADMIN": "x"}, CredentialIncomplete),
            ("CRM_TOKEN", {}, CredentialIncomplete),
            ("HEADGATE_SECRET_KEY", {"HEADGATE_SECRET_KEY": KEY}, UnknownCredential),
            ("not a name", {"not a name": KEY}, UnknownCredential),
            ("CRM_TOKEN", {"CRM_TOKEN": "x" * 70_000}, BadVariable),
        ],
    )
    async def test_refuses_what_does_not_belong_to_it(
        self, parts: Parts, place: HeadgateWorkplace, type_: str, values: dict[str, str], error: type[Exception]
    ) -> None:
        with pytest.raises(error) as refused:
            await place.add_credential(type_, "", values)
        assert KEY not in str(refused.value)
        assert await parts.keys_of(LOCAL, "test").key("OPENAI_API_KEY") is None


class TestTrials:
    async def test_is_a_real_run_with_its_evidence(self, parts: Parts, place: HeadgateWorkplace) -> None:
        held = await changed(place, "build_flow", None, spec=GREETING)
        found = await place.run_case(held.flow_id, TestCase(name="a", text="Ann"), session="s:1")
        assert (found.answer, found.error) == ("Hello Ann!", "")
        assert found.link == f"/flows/{held.flow_id}/runs/{found.run_id}"
        async with parts.database.reading() as session:
            package = await parts.notary.package(session, LOCAL, found.run_id)
        assert package["run"]["status"] == "completed"
        assert len(package["step_results"]) == 3

    async def test_that_was_started_before_is_adopted(self, place: HeadgateWorkplace) -> None:
        held = await changed(place, "build_flow", None, spec=GREETING)
        case = TestCase(name="a", text="Ann")
        first = await place.run_case(held.flow_id, case, session="s:1")
        again = await place.run_case(held.flow_id, case, session="s:1")
        other = await place.run_case(held.flow_id, case, session="s:2")
        assert first.run_id == again.run_id != other.run_id
        assert again.answer == "Hello Ann!"

    async def test_takes_answers_to_the_form(self, place: HeadgateWorkplace) -> None:
        held = await changed(place, "build_flow", None, spec=FORM)
        found = await place.run_case(held.flow_id, TestCase(name="a", form={"topic": "owls"}), session="s")
        assert "owls" in found.answer
        found = await place.run_case(held.flow_id, TestCase(name="a"), session="s")
        assert found.answer == ""
        assert "topic" in found.error

    async def test_is_given_the_files_of_its_case(self, place: HeadgateWorkplace) -> None:
        held = await changed(place, "build_flow", None, spec=FORM)
        gone = TestCase(name="a", form={"topic": "owls"}, file_ids=["of-nothing"])
        assert "of-nothing" in (await place.run_case(held.flow_id, gone, session="s")).error

    async def test_remembers_nothing_of_another(self, parts: Parts, place: HeadgateWorkplace) -> None:
        held = await changed(place, "build_flow", None, spec=GREETING)
        case = TestCase(name="a", text="Ann")
        found = [await place.run_case(held.flow_id, case, session=f"same-{number}") for number in range(2)]
        chats = {(await runs.get_run(parts.engine, LOCAL, one.run_id)).session_id for one in found}
        assert len(chats) == 2

    async def test_says_which_step_failed_and_why(self, place: HeadgateWorkplace) -> None:
        held = await changed(place, "build_flow", None, spec=BROKEN)
        found = await place.run_case(held.flow_id, TestCase(name="a", text="no json"), session="s")
        assert found.answer == ""
        assert found.error.startswith("Step 'words' (ParseJSON) failed: ")
        assert found.run_id

    async def test_a_flow_that_cannot_run_is_a_result(self, place: HeadgateWorkplace) -> None:
        held = await changed(place, "build_flow", None, spec=GREETING)
        held = await changed(place, "add_component", held, component_type="AIStep", node_id="brief")
        found = await place.run_case(held.flow_id, TestCase(name="a", text="x"), session="s")
        assert (found.run_id, found.answer) == ("", "")
        assert "'brief' (AIStep)" in found.error

    async def test_of_a_flow_that_is_gone_are_none(self, place: HeadgateWorkplace) -> None:
        with pytest.raises(FlowNotFound):
            await place.run_case(new_id(), TestCase(name="a", text="x"), session="s")

    async def test_that_hangs_is_cancelled(self, parts: Parts) -> None:
        place = await open_place(parts, trial_seconds=0.2)
        held = await changed(place, "build_flow", None, spec=SLOW)
        found = await place.run_case(held.flow_id, TestCase(name="a", text="x"), session="s")
        assert found.error == "The run did not finish within 0 seconds and was cancelled."
        assert (await runs.get_run(parts.engine, LOCAL, found.run_id)).status == "cancelled"

    async def test_of_a_session_that_is_cancelled_is_cancelled_too(
        self, parts: Parts, place: HeadgateWorkplace
    ) -> None:
        held = await changed(place, "build_flow", None, spec=SLOW)
        trial = asyncio.create_task(place.run_case(held.flow_id, TestCase(name="a", text="x"), session="s"))
        run_id = await _running(parts, held)
        trial.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trial
        assert (await runs.get_run(parts.engine, LOCAL, run_id)).status == "cancelled"


class TestTestSets:
    async def test_keeps_cases_by_name(self, parts: Parts, place: HeadgateWorkplace) -> None:
        held = await changed(place, "build_flow", None, spec=GREETING)
        kept = FlowTests(parts.database, LOCAL)
        await kept.keep(held.flow_id, [TestCase(name="a", text="1"), TestCase(name="b")])
        better = TestCase(name="a", text="2", expect=Expectation(contains=["2"]))
        await kept.keep(held.flow_id, [better])
        async with parts.database.reading() as session:
            assert await list_cases(session, LOCAL, held.flow_id) == [better, TestCase(name="b")]


async def _running(parts: Parts, held: Held) -> str:
    """The id of the flow's run, once it has begun: it may wait already."""
    for _ in range(500):
        async with parts.database.reading() as session:
            rows = await runs.list_runs(session, LOCAL, flow_id=held.flow_id)
        if rows and rows[0].status in {"running", "waiting"}:
            return rows[0].id
        await asyncio.sleep(0.01)
    raise AssertionError("no run began")
