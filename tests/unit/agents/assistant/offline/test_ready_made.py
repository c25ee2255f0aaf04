"""Requests that are a sentence of a template, in English and Swedish, with other addresses, without a model."""

import orjson
import pytest

from headgate.agents.assistant.offline.builder import Closing, OfflineBuilder
from headgate.agents.assistant.offline.understand import understand
from headgate.agents.assistant.offline.understanding import Action, Understanding
from headgate.features.catalog.gallery import Recipe, find_recipe, load_gallery
from headgate.graph.model import Flow
from headgate.graph.spec import parse_spec
from tests.unit.agents.assistant.offline.corpus import REGISTRY

MODEL = "openai/gpt-5-mini"
TASKS = [recipe for recipe in load_gallery() if recipe.swedish]
SENTENCES = [
    pytest.param(recipe, text, id=text[:60]) for recipe in TASKS for text in (recipe.examples[0], *recipe.swedish)
]


def read(text: str, model: str | None = None) -> Understanding:
    return understand(text, REGISTRY, Flow(), model)


def built(found: Understanding) -> Flow:
    return parse_spec(str(found.actions[0].arguments["spec"]))


class TestSentences:
    def test_are_of_twenty_templates(self) -> None:
        assert len(TASKS) == 20

    @pytest.mark.parametrize(("recipe", "text"), SENTENCES)
    def test_build_the_flow_with_its_trigger_or_name_the_template(self, recipe: Recipe, text: str) -> None:
        found = read(text)
        if recipe.needs_model:
            assert found.actions == ()
            assert recipe.title in found.reply
            found = read(text, MODEL)
        assert built(found) == recipe.flow()
        assert [action.tool for action in found.actions[1:]] == [
            "set_schedule" if trigger.config["kind"] == "schedule" else "set_trigger" for trigger in recipe.triggers
        ]
        assert [action.arguments["name"] for action in found.actions[1:]] == [one.name for one in recipe.triggers]

    @pytest.mark.parametrize(
        "text",
        [
            "every night save the rows of the table bill in shop-database as xlsx and mail the file to ann@example.org",
            "every Tuesday at 8 mail the sales per region of shop-database as a chart to ann@example.org",
            "every Monday at 9 mail the sales per region of shop-database as a chart to ann@example.org",
            "watch https://example.org/news every day and notify team-chat when the page changes",
            "bevaka https://example.org/news varje dag och meddela team-chat när sidan ändras",
            "post each new entry of the feed https://example.org/{{x}} to slack with team-chat",
        ],
    )
    def test_with_other_words_build_no_wrong_flow(self, text: str) -> None:
        found = read(text)
        assert found.actions == ()
        assert "cannot" in found.reply or "kan inte" in found.reply


class TestAddresses:
    def test_are_replaced_once_each(self) -> None:
        text = (
            "every morning at 7 read the feed https://feeds.example.com/ann@example.org/all.xml"
            " and mail a digest of the news to bob@example.com"
        )
        spec = str(read(text, MODEL).actions[0].arguments["spec"])
        assert "https://feeds.example.com/ann@example.org/all.xml" in spec
        assert "bob@example.com" in spec

    def test_of_the_request_replace_those_of_the_template(self) -> None:
        text = "every hour check the price on https://shop.test/jam and notify team-chat when it has fallen"
        flow = built(read(text))
        assert [node.params["url"] for node in flow.nodes if "url" in node.params] == ["https://shop.test/jam"]
        assert "https://example.org" not in str(flow)

    def test_of_the_request_reach_the_trigger(self) -> None:
        _, trigger = read("watch https://shop.test/jam every hour and notify team-chat when the page changes").actions
        source = trigger.arguments["source"]
        assert isinstance(source, dict)
        assert source == find_recipe("page-watch").triggers[0].config | {"url": "https://shop.test/jam"}

    def test_of_mail_too(self) -> None:
        sentence = find_recipe("backup-to-spreadsheet").examples[0].replace("ann@example.org", "bo@shop.test")
        found = read(sentence)
        assert built(found).nodes[3].params["to"] == "bo@shop.test"
        assert "bo@shop.test" in found.restatement


class TestClosing:
    async def test_names_the_trigger_the_connections_and_what_is_left_to_do(self) -> None:
        work = await OfflineBuilder(REGISTRY, Flow).begin(find_recipe("weekly-chart-by-mail").examples[0])
        made = {
            "trigger_id": "1",
            "name": "Every Monday",
            "fires": "At 08:00 on Monday (UTC)",
            "note": "Not published.",
        }
        for answer in ({"ok": True, "nodes": 4, "edges": 4, "issues": []}, {"ok": True, **made}):
            action = work.next()
            assert isinstance(action, Action)
            work.take(action, orjson.dumps(answer).decode())
        closing = work.next()
        assert isinstance(closing, Closing)
        assert "Added the trigger 'Every Monday': At 08:00 on Monday (UTC). Not published." in closing.text
        assert "office-mail, shop-database" in closing.text
