"""What the guide shows happens: its flows are run as it says, and give what it says."""

from typing import Any

import httpx2
import pytest

from tests.integration.pages.conftest import RunPage

GUIDE = "start/guide.md"


def statuses(run: dict[str, Any]) -> dict[str, str]:
    return {step["step_id"]: step["status"] for step in run["steps"]}


class TestText:
    async def test_is_counted(self, run_page: RunPage) -> None:
        run = await run_page(GUIDE, "Word count", text="to be or not to be")
        assert (run["status"], run["text"]) == ("completed", "6")


class TestForm:
    async def test_fills_the_letter(self, run_page: RunPage) -> None:
        run = await run_page(GUIDE, "Welcome letter", form_data={"name": "Ann", "city": "Lund"})
        assert run["text"] == "Dear Ann, welcome to Lund!"
        assert run["input"]["form_data"] == {"name": "Ann", "city": "Lund"}

    @pytest.mark.parametrize(
        ("answers", "said"),
        [
            ({"name": "Ann", "city": "Paris"}, "The form field 'city' has no option 'Paris'."),
            ({"city": "Lund"}, "The form field 'name' requires an answer."),
            ({"name": "Ann", "city": "Lund", "nam": "x"}, "The form has no field 'nam'; did you mean 'name'?"),
        ],
    )
    async def test_is_checked_before_anything_runs(
        self, run_page: RunPage, client: httpx2.AsyncClient, answers: dict[str, str], said: str
    ) -> None:
        refused = await run_page(GUIDE, "Welcome letter", form_data=answers)
        assert (refused["code"], refused["detail"]) == ("run_input_invalid", said)
        assert (await client.get("/api/v1/flow-runs")).json()["items"] == []

    async def test_takes_numbers_as_people_type_them(self, run_page: RunPage) -> None:
        run = await run_page(GUIDE, "Grant applications", form_data={"applicant": "Ann", "amount": "12"})
        assert run["input"]["form_data"]["amount"] == 12
        refused = await run_page(GUIDE, "Grant applications", form_data={"applicant": "Ann", "amount": "lots"})
        assert refused["detail"] == "The form field 'amount' must be a number."


class TestFiles:
    async def test_are_read_as_tables(self, run_page: RunPage, client: httpx2.AsyncClient) -> None:
        content = "name,city\nAnn,Lund\nBo,Umeå\n".encode()
        stored = (await client.post("/api/v1/files", files={"file": ("people.csv", content, "text/csv")})).json()
        run = await run_page(GUIDE, "People per city", file_ids=[stored["id"]])
        assert run["text"].splitlines()[2:] == ["| Lund | 1 |", "| Umeå | 1 |"]

    async def test_that_are_missing_are_asked_for(self, run_page: RunPage) -> None:
        refused = await run_page(GUIDE, "People per city")
        assert (refused["status"], refused["code"]) == (422, "run_input_invalid")
        assert refused["detail"] == "Step 'upload' reads a file, but the run has no file."


class TestBranches:
    @pytest.mark.parametrize(("amount", "taken", "skipped"), [(20000, "board", "grant"), (10, "grant", "board")])
    async def test_run_one_way_and_skip_the_other(
        self, run_page: RunPage, amount: int, taken: str, skipped: str
    ) -> None:
        run = await run_page(GUIDE, "Grant applications", form_data={"applicant": "Ann", "amount": amount})
        assert run["status"] == "completed"
        assert (statuses(run)[taken], statuses(run)[skipped]) == ("completed", "skipped")
        assert run["output"]["outputs"]["out"]["text"].startswith("For the board" if amount > 10000 else "Granted to")


class TestOwnPython:
    async def test_runs_in_the_sandbox(self, run_page: RunPage) -> None:
        run = await run_page(GUIDE, "Longest words", text="The quick brown fox jumps over the neighbourhood")
        assert "| neighbourhood | 13 |" in run["text"]


class TestMap:
    async def test_calls_a_component_for_every_item(self, run_page: RunPage) -> None:
        run = await run_page(GUIDE, "Prices with tax", text="Tea 30, coffee 40, cake 55")
        assert run["text"].split() == ["[", "37.5,", "50,", "68.75", "]"]


class TestModels:
    async def test_that_are_missing_a_key_name_the_variable(
        self, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        spec = "nodes:\n  brief: AIStep\n    prompt: Shorten.\n    model: openai/gpt-5-mini\n"
        flow = (await client.post("/api/v1/flows", json={"spec": spec})).json()
        refused = (await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"wait": True})).json()
        assert (refused["status"], refused["code"]) == (422, "flow_invalid")
        assert refused["detail"].endswith("OpenAI needs a key, and the variable OPENAI_API_KEY is not set.")
        assert refused["remedy"].startswith("Set it with `headgate variables set OPENAI_API_KEY`")
