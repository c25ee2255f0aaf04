"""Source code in a knowledge base: passages of functions, found by their names, parsed in the sandbox."""

import pytest

from headgate.features.knowledge.passages import extraction
from tests.integration.features.knowledge.conftest import API, Knowledge

LINES = "        total = total + price * quantity - discount\n" * 15
CODE = f"class Shop:\n    def total(self):\n{LINES}\n    def refund(self):\n{LINES}\n"


class TestCode:
    async def test_is_divided_by_function_with_qualified_names(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        document = await knowledge.add(base, "shop.py", CODE)
        assert (document["status"], document["notes"]) == ("ready", [])
        passages = await knowledge.passages(base, document["id"])
        assert [passage["context"] for passage in passages] == ["Shop, Shop.total", "Shop.refund"]
        assert "".join(passage["text"] for passage in passages) == CODE
        hits = await knowledge.search(base, "refund")
        assert (hits[0]["ordinal"], hits[0]["context"]) == (1, "Shop.refund")
        script = await knowledge.client.post(
            f"{API}/{base}/preview", files={"file": ("a.ts", b"export function run() {}", "video/mp2t")}
        )
        assert script.json()["shown"][0]["context"] == "run", script.text

    async def test_that_does_not_parse_is_divided_by_lines_and_says_so(
        self, knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        base = await knowledge.base()
        broken = await knowledge.add(base, "broken.go", "func (((\n" * 300)
        assert (broken["status"], broken["notes"]) == ("ready", ["Divided by lines: it does not parse as go."])
        passages = await knowledge.passages(base, broken["id"])
        assert len(passages) > 1
        assert all(passage["text"].endswith("\n") for passage in passages)
        monkeypatch.setattr(extraction, "is_installed", lambda _extra: False)
        plain = await knowledge.add(base, "shop.py", CODE)
        assert "pip install 'headgate[code]'" in plain["notes"][0]
