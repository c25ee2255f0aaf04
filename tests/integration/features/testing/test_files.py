"""Tests of a flow that are given files, over the real application on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate.features.access.principal import LOCAL
from headgate.features.files.service import forget_files
from headgate.features.testing.service import revision_of
from headgate.foundation.settings import Settings
from tests.support.team import Team, team

FLOW = (
    "name: Reads\nnodes:\n  given: FileInput\n{field}  read: ReadFile\n  said: ChatOutput\nedges:\n"
    "  given.file -> read.file\n  read.text -> said.input\n"
)
LOOSE = FLOW.format(field="")
IN_FORM = FLOW.format(field="    field: paper\n") + "form:\n  paper: document\n"


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


async def uploaded(us: Team, who: str, content: str = "the word is swordfish") -> str:
    answer = await us.ask(who, "POST", "/files", files={"file": ("note.txt", content.encode(), "text/plain")})
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["id"]
    return found


async def put(us: Team, who: str, flow: str, *cases: dict[str, Any]) -> Any:
    revision = (await us.get(who, f"/flows/{flow}/tests"))["revision"]
    return await us.ask(who, "PUT", f"/flows/{flow}/tests", json={"revision": revision, "cases": list(cases)})


async def ran(us: Team, who: str, flow: str) -> Any:
    return (await us.ask(who, "POST", f"/flows/{flow}/tests/run", json={"wait": True})).json()


class TestFiles:
    async def test_beside_the_text_are_given_to_each_trial_whoever_runs_it(self, us: Team) -> None:
        flow, file_id = (await us.make("editor", "/flows", spec=LOOSE))["id"], await uploaded(us, "editor")
        assert (await us.ask("publisher", "GET", f"/files/{file_id}")).status_code == 404
        case = {"name": "reads", "file_ids": [file_id], "expect": {"contains": ["swordfish"]}}
        kept = await put(us, "editor", flow, case)
        assert (kept.status_code, kept.json()["cases"][0]["file_ids"]) == (200, [file_id])
        found = await ran(us, "publisher", flow)
        assert (found["status"], found["lines"][0]["error"]) == ("passed", "")
        assert (await us.get("publisher", f"/files/{file_id}"))["name"] == "note.txt"

    async def test_in_a_field_of_the_form_are_given_whoever_runs_it(self, us: Team) -> None:
        flow, file_id = (await us.make("editor", "/flows", spec=IN_FORM))["id"], await uploaded(us, "editor")
        case = {"name": "reads", "form": {"paper": file_id}, "expect": {"contains": ["swordfish"]}}
        assert (await put(us, "editor", flow, case)).status_code == 200
        assert (await ran(us, "publisher", flow))["status"] == "passed"

    async def test_that_somebody_does_not_see_are_refused(self, us: Team) -> None:
        flow = (await us.make("editor", "/flows", spec=LOOSE))["id"]
        for who in ("publisher", "stranger"):
            refused = await put(us, "editor", flow, {"name": "reads", "file_ids": [await uploaded(us, who)]})
            assert (refused.status_code, refused.json()["code"]) == (404, "file_not_found")
        assert (await us.get("editor", f"/flows/{flow}/tests"))["revision"] == revision_of([])

    async def test_that_were_deleted_fail_their_own_test_and_nothing_else(self, us: Team) -> None:
        flow = (await us.make("editor", "/flows", spec=LOOSE))["id"]
        gone, there = await uploaded(us, "editor"), await uploaded(us, "editor")
        cases = [{"name": "gone", "file_ids": [gone]}, {"name": "there", "file_ids": [there]}]
        assert (await put(us, "editor", flow, *cases)).status_code == 200
        async with us.database.writing() as session:
            await forget_files(session, [gone], tenant_id=LOCAL.tenant_id)
        found = await ran(us, "editor", flow)
        assert (found["status"], found["done"], found["failures"]) == ("failed", 2, 1)
        (line,) = [line for line in found["lines"] if not line["passed"]]
        assert (line["name"], gone in line["error"], line["run_id"]) == ("gone", True, "")
        assert (await put(us, "editor", flow, cases[0], {"name": "another"})).status_code == 200
