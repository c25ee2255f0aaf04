"""Steps are extracted into a flow, and inlined again, without a change of the result of a run."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx2
import orjson
import pytest
from sqlalchemy import text

from headgate.components import BUILTINS
from headgate.features.access.principal import LOCAL
from headgate.features.catalog.registry import Registry
from headgate.features.flows import composition, service
from headgate.features.flows.composition_routes import router as composition_router
from headgate.features.flows.routes import router as flows_router
from headgate.features.models.classes import ModelClasses
from headgate.features.runs.engine.build import build_engine
from headgate.features.runs.routes import router as runs_router
from headgate.features.triggers.transfer import TriggerTransfer
from headgate.foundation.database import Database
from headgate.foundation.settings import ClassificationSettings, Settings
from headgate.graph.diff import diff_flows
from headgate.graph.model import Flow, StepPolicy
from headgate.graph.spec import read_spec
from tests.integration.features.runs.test_api import NOTARY, run
from tests.support.api import api
from tests.support.engine import make_services, on_disk
from tests.support.people import add_space_row
from tests.support.readiness import rules_of

REGISTRY = Registry(BUILTINS)
LETTERS = """
name: Letters
nodes:
  ask: ChatInput
  tidy: Regex
    pattern: " +"
    mode: replace
    replacement: " "
  greet: PromptTemplate
    template: "Dear {{flow_input.who}}: {body} (of {{ask.message.role}})"
  out: ChatOutput
edges:
  ask.text -> tidy.text
  tidy.text -> greet.body
  greet.text -> out.input
form:
  who: text
    label: Who?
"""
ROWS = """
name: Rows
nodes:
  ask: ChatInput
  parse: ParseJSON
  cheap: TableQuery
    sql: SELECT name, price FROM t WHERE price < {{flow_input.most}} ORDER BY price
  names: SelectData
    expression: "[].name"
  report: CombineText
    parts: ["Names: {{names.data}}", "Rows: {{cheap.table.rows}} {{names.data.0}}"]
  all: CombineText
edges:
  ask.text -> parse.text
  parse.table -> cheap.table
  cheap.table -> names.data
  cheap.table -> all.parts
  report.text -> all.parts
  names.data -> all.parts
form:
  most: number
    label: Highest price
"""
CASES = [
    (LETTERS, ["tidy", "greet"], {"text": "so   many  words", "form_data": {"who": "Åsa"}}),
    (LETTERS, ["greet", "out"], {"text": "", "form_data": {}}),
    (LETTERS, ["ask", "tidy", "greet", "out"], {"text": "[1, 2]", "form_data": {"who": "{{ask.text}}"}}),
    (
        ROWS,
        ["cheap", "names"],
        {"text": '[{"name": "a", "price": 3}, {"name": "b", "price": 9}]', "form_data": {"most": 5}},
    ),
    (ROWS, ["parse", "cheap"], {"text": '[{"name": "a", "price": 3}]', "form_data": {"most": 1}}),
    (ROWS, ["names", "report"], {"text": '[{"name": "a", "price": 3}]', "form_data": {"most": 4}}),
]


@pytest.fixture
async def client(database: Database, settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    services = make_services(database, components=BUILTINS, files=on_disk(database, settings))
    engine = build_engine(settings, database, services)
    await engine.open()
    parts: dict[str, Any] = {
        "database": database,
        "engine": engine,
        "registry": REGISTRY,
        "notary": NOTARY,
        "trigger_transfer": TriggerTransfer(NOTARY.box),
        "rules": rules_of(database, REGISTRY),
    }
    async with api(flows_router, composition_router, runs_router, **parts) as found:
        yield found
    await engine.close()


async def create(client: httpx2.AsyncClient, spec: str) -> str:
    answer = await client.post("/flows", json={"spec": spec})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


class TestRuns:
    @pytest.mark.parametrize(("spec", "ids", "start"), CASES)
    async def test_have_the_same_result_before_after_and_inlined_again(
        self, client: httpx2.AsyncClient, spec: str, ids: list[str], start: dict[str, Any]
    ) -> None:
        flow_id = await create(client, spec)
        before = await run(client, flow_id, **start)
        assert before["status"] == "completed", before["error"]
        answer = await client.post(
            f"/flows/{flow_id}/extract", json={"node_ids": ids, "name": "The part", "publish": True}
        )
        assert answer.status_code == 201, answer.text
        extracted = answer.json()
        assert extracted["extracted"]["published_version"] == 1
        after = await run(client, flow_id, **start)
        assert (after["status"], after["text"]) == ("completed", before["text"]), after["error"]
        assert extracted["node_id"] in {step["step_id"] for step in after["steps"]}
        answer = await client.post(f"/flows/{flow_id}/inline", json={"node_id": extracted["node_id"]})
        assert answer.status_code == 200, answer.text
        inlined = Flow.model_validate(answer.json()["definition"])
        assert not diff_flows(read_spec(spec, REGISTRY), inlined).nodes_changed
        again = await run(client, flow_id, **start)
        assert (again["status"], again["text"]) == ("completed", before["text"])


PRICES = """
name: Prices
nodes:
  ask: ChatInput
  parse: ParseJSON
  title: PromptTemplate
    template: "{word}"
    word: x
  tag: SelectData
    data: {"name": "{{parse.data.name}}", "of": "{{title.text}}", "asked": "{{flow_input.who}}"}
    expression: "@"
  names: SelectData
    expression: "join(',', [name, of, asked])"
  out: ChatOutput
edges:
  ask.text -> parse.text
  tag.data -> names.data
  names.data -> out.input
form:
  who: text
    label: Who?
"""
LINES = """
name: Lines
nodes:
  ask: ChatInput
  greet: PromptTemplate
    template: "{word} for {{flow_input.who}}"
  out: ChatOutput
edges:
  ask.text -> greet.word
  greet.text -> out.input
form:
  who: text
    label: Who?
"""
TABLE = """
name: Table
nodes:
  ask: ChatInput
  parse: ParseJSON
  price: SelectData
    expression: "price"
  report: CombineText
    parts: ["Prices: {{price.data}}"]
edges:
  ask.text -> parse.text
  parse.table -> price.data
"""
ADD = """
name: Add
nodes:
  ask: ChatInput
  parse: ParseJSON
  more: SelectData
    expression: "{n: sum([n, `1`])}"
  out: ChatOutput
edges:
  ask.text -> parse.text
  parse.data -> more.data
  more.data -> out.input
"""
SCORED = """
name: Scored
nodes:
  ask: ChatInput
  parse: ParseJSON
  more: SelectData
    expression: "{n: sum([n, `1`])}"
  note: PromptTemplate
    template: "now {{more.data.n}}"
  report: CombineText
    parts: ["{{note.text}}", "data: {{more.data}}"]
edges:
  ask.text -> parse.text
  parse.data -> more.data
"""
DRAFTS = """
name: Drafts
nodes:
  ask: ChatInput
  draft: PromptTemplate
    template: "{text}!"
  review: PromptTemplate
    template: "read {draft}"
  report: CombineText
    parts: ["{{draft.text}}", "{{review.text}}"]
edges:
  ask.text -> draft.text
  draft.text -> review.draft
"""
TWO = """
name: Two
nodes:
  ask: ChatInput
  parse: ParseJSON
  price: SelectData
    expression: "price"
  note: PromptTemplate
    template: "{{parse.data}} noted"
  report: CombineText
    parts: ["Prices: {{price.data}}", "{{note.text}}"]
edges:
  ask.text -> parse.text
  parse.data -> price.data
"""
NO_LIST = """
name: Nothing
nodes:
  first: CurrentDate
  second: PromptTemplate
    template: "{{first.text}} {{flow_input.text}}"
  out: CombineText
    parts: ["{{first.text}}", "{{second.text}}"]
"""
REPEATED = [
    (LINES, ["greet"], {}, {"text": "a\nb", "form_data": {"who": "Eva"}}, "a for Eva\n\nb for Eva", "ask.text"),
    (
        PRICES,
        ["tag", "names"],
        {},
        {"text": '[{"name": "a"}, {"name": "b"}]', "form_data": {"who": "Eva"}},
        ["a,x,Eva", "b,x,Eva"],
        "parse.data",
    ),
    (TABLE, ["price"], {}, {"text": '[{"price": 3}, {"price": 4}]'}, "Prices: [3, 4]", "parse.table"),
    (
        TWO,
        ["price", "note"],
        {},
        {"text": '[{"price": 3}, {"price": 4}]'},
        'Prices: [3, 4]\n\n{"price": 3} noted\n\n{"price": 4} noted',
        "parse.data",
    ),
    (
        ADD,
        ["more"],
        {"repeat": "until", "until": "n >= `4`"},
        {"text": '{"n": 1}'},
        {"n": 4},
        "first with parse.data, until n >= `4`, at most 10 times",
    ),
    (
        SCORED,
        ["more", "note"],
        {"repeat": "until", "until": "more.n >= `4`"},
        {"text": '{"n": 1}'},
        'now 4\n\ndata: {"n": 4}',
        "first with parse.data, then with 'more' of the last round, until more.n >= `4`",
    ),
    (
        DRAFTS,
        ["draft", "review"],
        {"repeat": "until", "until": "contains(review, '!!!')"},
        {"text": "Hi"},
        "Hi!!!\n\nread Hi!!!",
        "first with ask.text, then with 'draft' of the last round",
    ),
]


class TestRepeated:
    @pytest.mark.parametrize("case", REPEATED)
    async def test_steps_run_for_each_item_or_until_a_condition_holds(
        self, client: httpx2.AsyncClient, case: tuple[str, list[str], dict[str, str], dict[str, Any], Any, str]
    ) -> None:
        spec, ids, how, start, result, says = case
        flow_id = await create(client, spec)
        body = {"node_ids": ids, "name": "Each", "publish": True, "repeat": "each", **how}
        answer = await client.post(f"/flows/{flow_id}/extract", json=body)
        assert answer.status_code == 201, answer.text
        assert says in answer.json()["repeats"]
        after = await run(client, flow_id, **start)
        assert after["status"] == "completed", after["error"]
        assert after["text"] == result if isinstance(result, str) else orjson.loads(after["text"]) == result

    @pytest.mark.parametrize(
        ("spec", "ids", "how", "reason"),
        [
            (LETTERS, ["out", "greet"], {"repeat": "until", "until": "@"}, "other values enter the selection, too"),
            (LETTERS, ["tidy"], {"repeat": "until", "until": " "}, "no condition"),
            (ROWS, ["all"], {}, "several values enter the selection"),
            (ROWS, ["cheap"], {}, "uses 'cheap.rows', a part of one result"),
            (NO_LIST, ["first"], {}, "no list enters the selection"),
            (NO_LIST, ["second"], {}, "reads the run's text"),
            (NO_LIST, ["first", "second"], {}, "reads the run's text"),
        ],
    )
    async def test_a_refused_repetition_names_the_reason_and_creates_nothing(
        self, client: httpx2.AsyncClient, spec: str, ids: list[str], how: dict[str, str], reason: str
    ) -> None:
        flow_id = await create(client, spec)
        body = {"node_ids": ids, "name": "Part", "repeat": "each", **how}
        answer = await client.post(f"/flows/{flow_id}/extract", json=body)
        assert (answer.status_code, reason in answer.json()["detail"]) == (422, True), answer.text
        assert (await client.get(f"/flows/{flow_id}")).json()["revision"] == 1


class TestChanges:
    async def test_are_refused_for_a_stale_revision_and_create_nothing(self, client: httpx2.AsyncClient) -> None:
        flow_id = await create(client, LETTERS)
        body = {"node_ids": ["tidy"], "name": "Part", "revision": 7}
        assert (await client.post(f"/flows/{flow_id}/extract", json=body)).status_code == 409
        assert len((await client.get(f"/flows/{flow_id}/versions")).json()["items"]) == 0

    async def test_a_refused_extraction_names_the_reason(self, client: httpx2.AsyncClient) -> None:
        flow_id = await create(client, ROWS)
        answer = await client.post(f"/flows/{flow_id}/extract", json={"node_ids": ["parse", "names"], "name": "Part"})
        assert answer.status_code == 422
        assert "step 'cheap' is between selected steps" in answer.json()["detail"]

    async def test_the_new_flow_takes_the_classification_of_what_reaches_it(self, database: Database) -> None:
        policy = StepPolicy(output_classification_override=3)
        flow = read_spec(LETTERS, REGISTRY)
        nodes = (node.model_copy(update={"policy": policy}) if node.id == "tidy" else node for node in flow.nodes)
        flow = flow.model_copy(update={"nodes": tuple(nodes)})
        rules = rules_of(database, REGISTRY)
        classes = ModelClasses(database, ClassificationSettings(enabled=True), REGISTRY)
        rules = replace(rules, environments=replace(rules.environments, classes=classes))
        async with database.writing() as session:
            extracted = await composition.extract(
                session,
                LOCAL,
                rules,
                space_id=LOCAL.space_id,
                flow=flow,
                node_ids=["greet"],
                name="Part",
                publish=False,
            )
            assert service.definition_of(extracted.row).settings.input_classification == 3

    async def test_are_in_the_audit_log(self, client: httpx2.AsyncClient, database: Database) -> None:
        flow_id = await create(client, LETTERS)
        body = {"node_ids": ["tidy"], "name": "Part", "publish": True}
        extracted = (await client.post(f"/flows/{flow_id}/extract", json=body)).json()
        await client.post(f"/flows/{flow_id}/inline", json={"node_id": extracted["node_id"]})
        async with database.reading() as session:
            actions = list(await session.scalars(text("SELECT action FROM audit_events")))
        assert [actions.count(one) for one in ("flow.created", "flow.published", "flow.draft_saved")] == [2, 1, 2]

    async def test_an_unsaved_draft_is_returned_and_not_stored(self, client: httpx2.AsyncClient) -> None:
        flow_id = await create(client, LETTERS)
        stored = (await client.get(f"/flows/{flow_id}")).json()
        body = {"node_ids": ["tidy"], "name": "Part", "definition": stored["definition"]}
        answer = await client.post(f"/flows/{flow_id}/extract", json=body)
        assert any(node["type"] == "RunFlow" for node in answer.json()["definition"]["nodes"])
        assert (await client.get(f"/flows/{flow_id}")).json()["revision"] == stored["revision"]

    async def test_a_version_that_was_not_released_is_not_inlined(self, client: httpx2.AsyncClient) -> None:
        called = await create(client, LETTERS)
        await run(client, called, text="a", form_data={})  # freezes the draft as version 1
        spec = f"name: Caller\nnodes:\n  call: RunFlow\n    flow: {called}\n    version: 1\n"
        answer = await client.post(f"/flows/{await create(client, spec)}/inline", json={"node_id": "call"})
        assert answer.status_code == 422, answer.text
        assert "step 'call' runs version 1 of 'Letters', which is not released" in answer.json()["detail"]

    @pytest.mark.parametrize("publish", [True, False])
    async def test_a_flow_of_another_space_is_not_inlined(
        self, client: httpx2.AsyncClient, database: Database, publish: bool
    ) -> None:
        elsewhere = await add_space_row(database, "Elsewhere")
        answer = await client.post("/flows", json={"spec": LETTERS, "space_id": elsewhere})
        called = answer.json()["id"]
        if publish:
            answer = await client.post(f"/flows/{called}/publish", json={})
            assert answer.status_code == 200, answer.text
        spec = f"name: Caller\nnodes:\n  call: RunFlow\n    flow: {called}\n"
        answer = await client.post(f"/flows/{await create(client, spec)}/inline", json={"node_id": "call"})
        assert answer.status_code == 422, answer.text
        assert "step 'call' runs 'Letters', a flow of another space" in answer.json()["detail"]

    async def test_a_flow_that_was_never_published_is_inlined_from_its_draft(self, client: httpx2.AsyncClient) -> None:
        flow_id = await create(client, LETTERS)
        answer = await client.post(f"/flows/{flow_id}/extract", json={"node_ids": ["tidy"], "name": "Part"})
        node_id = answer.json()["node_id"]
        inlined = await client.post(f"/flows/{flow_id}/inline", json={"node_id": node_id})
        assert {node["id"] for node in inlined.json()["definition"]["nodes"]} == {"ask", "tidy", "greet", "out"}
