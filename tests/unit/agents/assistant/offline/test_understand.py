"""From a request to a restatement, tool calls or a refusal."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.agents.assistant.offline.build.difference import actions_between
from headgate.agents.assistant.offline.choices import nearest, offered
from headgate.agents.assistant.offline.language.files import classes
from headgate.agents.assistant.offline.language.languages import language_of
from headgate.agents.assistant.offline.reading.data import Sample, look
from headgate.agents.assistant.offline.reading.tokens import tokenize
from headgate.agents.assistant.offline.trial import try_out
from headgate.agents.assistant.offline.understand import understand
from headgate.agents.assistant.offline.understanding import Understanding
from headgate.graph.model import Edge, Flow, Node
from headgate.graph.spec import parse_spec
from headgate.graph.validate import check_runnable
from tests.support.properties import cases
from tests.unit.agents.assistant.offline.corpus import REGISTRY, entries
from tests.unit.agents.assistant.offline.running import run

WORDS = sorted({word for entry in entries("developing") for word in entry["request"].split()})
ORDERS = "order,country,price,status\n1,Sweden,12,open\n2,Norway,95,closed\n3,Sweden,250,open\n"


def orders() -> Sample:
    sample = look("orders.csv", ORDERS.encode())
    assert sample is not None
    return sample


def read(request: str, *, model: str | None = None, seen: bool = False) -> Understanding:
    return understand(request, REGISTRY, Flow(), model, orders() if seen else None)


async def output(request: str, *, text: str = "", seen: bool = False) -> str:
    """What the flow of a request returns."""
    understood = await try_out(read(request, seen=seen), REGISTRY, orders() if seen else None)
    assert understood.flow is not None, understood.reply
    ran = await run(understood.flow, REGISTRY, text=text, file=("orders.csv", ORDERS) if seen else None)
    return ran.everything


class TestReadingAFile:
    """`Read the CSV I upload` names the source; only text is read as JSON, and only when JSON is named."""

    @pytest.mark.parametrize(
        ("request_", "step"),
        [
            ("Read the CSV I upload and count the rows per country", "Per 'country': the number of rows"),
            (
                "Read the CSV I upload, keep the rows where amount is over 500 and save them as big.csv",
                "Save as big.csv",
            ),
            ("Läs CSV-filen jag laddar upp och spara den som stora.csv", "Spara som stora.csv"),
        ],
    )
    def test_has_one_meaning(self, request_: str, step: str) -> None:
        understood = read(request_)
        assert step in understood.restatement
        assert "JSON" not in understood.restatement

    @pytest.mark.parametrize("request_", ["validate the CSV I upload", "parse the CSV I upload"])
    def test_a_table_is_not_read_as_json(self, request_: str) -> None:
        assert "how they fit together" in read(request_).reply

    @pytest.mark.parametrize("request_", ["parse the JSON I paste", "check that what I paste is valid JSON"])
    def test_json_is_still_checked(self, request_: str) -> None:
        assert "text that is not JSON is an error" in read(request_).restatement


class TestWhatIsAroundTheWork:
    """Retries, limits and approvals are no part of what a model is asked to do."""

    @pytest.mark.parametrize(
        "request_",
        [
            "summarise my text, if the model fails answer sorry",
            "translate my text to French after approval",
            "summarise my text and ask my manager before it is shown",
            "sammanfatta texten efter godkännande",
            "sammanfatta texten och begränsa kostnaden till 20 kronor",
        ],
    )
    def test_is_refused_and_not_written_into_a_prompt(self, request_: str) -> None:
        understood = read(request_, model="openai/gpt-5-mini")
        assert understood.actions == ()
        assert understood.reply

    @pytest.mark.parametrize(
        ("request_", "prompt"),
        [
            ("summarise my text and limit the cost to 2 dollars", "Summarise."),
            ("summarise my text in two sentences and retry three times", "Summarise in two sentences."),
            ("sammanfatta texten och försök igen tre gånger", "Sammanfatta."),
        ],
    )
    def test_that_is_a_policy_or_a_limit_is_no_part_of_the_prompt(self, request_: str, prompt: str) -> None:
        flow = read(request_, model="openai/gpt-5-mini").flow
        assert flow is not None
        assert [node.params["prompt"] for node in flow.nodes if node.type == "AIStep"] == [prompt]

    @pytest.mark.parametrize(
        ("request_", "seconds"),
        [("wait 5 minutes and then show my text", 300), ("vänta 2 dagar och visa sedan texten", 172_800)],
    )
    def test_waits_are_read_in_every_unit(self, request_: str, seconds: int) -> None:
        flow = read(request_).flow
        assert flow is not None
        assert [node.params["seconds"] for node in flow.nodes if node.type == "Wait"] == [seconds]

    @pytest.mark.parametrize(
        "request_", ["ask for approval and then save my text as a.txt", "be om godkännande och visa sedan texten"]
    )
    def test_an_approval_comes_before_what_follows(self, request_: str) -> None:
        flow = read(request_).flow
        assert flow is not None
        assert [edge.output for edge in flow.edges if edge.source == "approval"] == ["approve"]


class TestRule:
    @cases(40)
    @given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)))
    def test_any_text_is_built_restated_or_refused(self, text: str) -> None:
        understood = read(text)
        assert understood.actions or understood.reply
        for action in understood.actions:
            if action.tool == "build_flow":
                assert understood.restatement
                assert check_runnable(parse_spec(str(action.arguments["spec"])), REGISTRY) == []

    @pytest.mark.parametrize(
        "word",
        ["zorbify", "not", "never", "7", "'purple'", "unless", "except", "second", "weekly", "https://example.org"],
    )
    def test_a_word_that_is_not_restated_refuses(self, word: str) -> None:
        assert not read(f"count the words of my text {word} and save the count as n.txt").actions

    def test_the_words_that_are_not_understood_are_named(self) -> None:
        assert "'zorbify'" in read("count the words of my text and zorbify them").reply
        assert "'fetch', 'example', 'feed' here" in read("when it is noon fetch the example feed").reply

    def test_the_restatement_is_in_the_language_of_the_request(self) -> None:
        understood = read("räkna orden i min text och spara antalet i antal.txt")
        assert understood.restatement.startswith("Så här förstår jag det:")
        assert "antal.txt" in understood.restatement
        assert "Jag kan inte" in read("boka en resa till Paris åt mig").reply

    @pytest.mark.parametrize("language", ["en", "sv"])
    def test_no_word_of_one_language_is_read_in_the_other(self, language: str) -> None:
        own, other = classes("en"), classes("sv")
        words = own if language == "en" else other
        assert set(own) >= set(other)
        assert words["show"] != (other if language == "en" else own)["show"]

    async def test_swedish_min_is_my_and_no_minimum(self) -> None:
        understood = read("räkna orden i min text")
        assert understood.flow is not None
        assert not any("min(" in str(node.params) for node in understood.flow.nodes)
        assert await output("räkna orden i min text", text="ett två") == "2"

    def test_languages_are_told_apart(self) -> None:
        assert language_of(tokenize("visa de två sista raderna")) == "sv"
        assert language_of(tokenize("show the last two lines")) == "en"
        assert language_of(tokenize("run it with the text hej")) == "en"


class TestFaultsOfTheReview:
    """Classes of requests that were built the other way round."""

    async def test_everything_but_leaves_those_out(self) -> None:
        shown = await output("give me everything but the closed orders from the csv", seen=True)
        assert "Norway" not in shown
        assert shown.count("Sweden") == 2

    async def test_the_last_row_is_the_last(self) -> None:
        shown = await output("show me the last row", seen=True)
        assert "250" in shown
        assert "95" not in shown

    async def test_at_most_is_a_number_of_rows(self) -> None:
        shown = await output("show at most 2 rows of the csv", seen=True)
        assert ("95" in shown, "250" in shown) == (True, False)

    async def test_an_average_is_of_the_column_that_was_named(self) -> None:
        shown = await output("average price by country", seen=True)
        assert "131" in shown
        assert "order" not in shown

    def test_names_cannot_be_masked_and_nothing_is_built(self) -> None:
        understood = read("Mask names and personal numbers in a text")
        assert not understood.actions
        assert "'names'" in understood.reply

    def test_messages_are_not_sorted_into_kinds_as_lines(self) -> None:
        assert not read("Sort messages into complaints, orders and the rest").actions

    def test_a_document_can_be_made(self) -> None:
        understood = read("make a pdf of my text")
        assert understood.flow is not None
        assert "MakeDocument" in {node.type for node in understood.flow.nodes}


class TestData:
    def test_a_column_that_is_not_there_is_asked_for(self) -> None:
        understood = read("sort by turnover descending", seen=True)
        assert not understood.actions
        assert "'turnover'" in understood.reply
        assert "'price'" in understood.reply

    async def test_a_value_tells_its_column(self) -> None:
        assert "Norway" not in await output("show only the orders from Sweden", seen=True)

    def test_a_text_column_has_no_average(self) -> None:
        understood = read("average status by country", seen=True)
        assert not understood.actions
        assert "numbers" in understood.reply


class TestTrial:
    async def test_withdraws_a_flow_that_changes_nothing(self) -> None:
        sample = look("a.txt", b"nothing of that kind\n")
        understood = understand("mask email addresses in the uploaded file", REGISTRY, Flow(), None, sample)
        assert understood.actions
        tried = await try_out(understood, REGISTRY, sample)
        assert not tried.actions
        assert "unchanged" in tried.reply

    async def test_withdraws_a_flow_that_returns_nothing(self) -> None:
        sample = look("a.log", b"INFO a\nINFO b\n")
        understood = understand("keep the lines that contain ERROR", REGISTRY, Flow(), None, sample)
        assert not (await try_out(understood, REGISTRY, sample)).actions

    async def test_withdraws_a_flow_that_fails(self) -> None:
        sample = look("a.json", b"{not json")
        understood = understand("convert the uploaded csv to json", REGISTRY, Flow(), None, sample)
        assert not (await try_out(understood, REGISTRY, sample)).actions

    async def test_names_what_was_not_tried(self) -> None:
        tried = await try_out(read("fetch https://example.org and count the words"), REGISTRY, None)
        assert "Not tried before a run: page" in tried.done


class TestCounting:
    @pytest.mark.parametrize(
        "request_",
        [
            "Count how many words a text has",
            "count the number of words in my text",
            "Räkna hur många ord en text har",
            "visa hur många ord texten har",
        ],
    )
    async def test_counts_once_however_the_verb_is_doubled(self, request_: str) -> None:
        assert await output(request_, text="one two\nthree") == "3"

    async def test_counts_lines_that_contain_a_word(self) -> None:
        understood = read("Räkna hur många rader som innehåller ordet fel i loggen jag laddar upp")
        assert "Räkna rader som uppfyller: innehåller 'fel'." in understood.restatement

    def test_does_not_count_a_count(self) -> None:
        understood = read("count the rows and how many words there are in my text")
        assert not understood.actions
        assert "Count one thing at a time" in understood.reply

    @pytest.mark.parametrize(
        ("request_", "line"),
        [
            ("Split the text by comma and join it with semicolons", "Join into one line with ';' between."),
            ("show how many lines my text has", "Count the lines of the text that is typed in"),
        ],
    )
    def test_is_restated_in_whole_sentences(self, request_: str, line: str) -> None:
        assert line in read(request_).restatement


class TestRefusal:
    @pytest.mark.parametrize("request_", ["Hello, who are you?", "Hi! What can you do?", "Hej, vad kan du göra?"])
    def test_a_greeting_does_not_hide_the_question(self, request_: str) -> None:
        assert read(request_).intent == "question"

    @pytest.mark.parametrize("language", ["en", "sv"])
    def test_offers_three_things(self, language: str) -> None:
        assert len(offered((), language)) == 3  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("request_", "title"),
        [
            ("make me a sandwich", "For example, the offline builder can do this:"),
            ("skicka ett brev till kungen", "Till exempel kan offlinebyggaren göra det här:"),
            ("remove duplicate rows by zorb from the csv I upload", "The nearest things the offline builder can do:"),
        ],
    )
    def test_calls_only_what_is_near_the_nearest(self, request_: str, title: str) -> None:
        understood = read(request_)
        assert title in understood.reply
        assert len(understood.choices) == 3

    def test_offers_what_is_near(self) -> None:
        assert any("email" in offer for offer in nearest("get rid of email addresses somehow", "en"))

    def test_says_that_a_part_needs_a_model_and_builds_nothing(self) -> None:
        understood = read("summarise the uploaded document and save it as s.md")
        assert not understood.actions
        assert "language model" in understood.reply

    def test_uses_the_model_that_is_configured(self) -> None:
        understood = read("summarise the uploaded document and save it as s.md", model="openai/x")
        assert understood.flow is not None
        assert [node.params["model"] for node in understood.flow.nodes if node.type == "AIStep"] == ["openai/x"]

    def test_positions_before_a_sort_are_asked_about(self) -> None:
        assert "then" in read("show the first 2 rows of the csv I upload sorted by price").reply


class TestImport:
    def test_needs_no_langchain(self) -> None:
        code = (
            "import sys; import headgate.agents.assistant.offline.understand;"
            " sys.exit(any(name.startswith('langchain') for name in sys.modules))"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestActionsBetween:
    def test_are_none_for_the_same_flow(self) -> None:
        flow = Flow(nodes=(Node(id="a", type="TextInput"),))
        assert actions_between(flow, flow) == ()

    def test_take_out_an_edge_before_what_replaces_it(self) -> None:
        text, wait, show = (
            Node(id=id_, type=type_) for id_, type_ in (("a", "TextInput"), ("w", "Wait"), ("b", "ChatOutput"))
        )
        before = Flow(nodes=(text, show), edges=(Edge(source="a", output="text", target="b", input="input"),))
        edges = (
            Edge(source="a", output="text", target="w", input="value"),
            Edge(source="w", output="value", target="b", input="input"),
        )
        after = Flow(nodes=(text, wait, show), edges=edges)
        tools = [action.tool for action in actions_between(before, after)]
        assert tools == ["disconnect_components", "add_component", "connect_components", "connect_components"]

    @pytest.mark.parametrize(("old", "new", "sent"), [({"seconds": 1}, {"seconds": 3}, 3), ({"seconds": 1}, {}, None)])
    def test_send_only_what_changed(self, old: dict[str, int], new: dict[str, int], sent: int | None) -> None:
        before, after = (Flow(nodes=(Node(id="w", type="Wait", params=params),)) for params in (old, new))
        (action,) = actions_between(before, after)
        assert action.arguments == {"node_id": "w", "params": {"seconds": sent}}


class TestMeaningOfQuantities:
    """Requests that were built with another meaning, without a word about it."""

    async def test_a_comparison_is_not_a_number_of_rows(self) -> None:
        shown = await output("price at most 95", seen=True)
        assert ("95" in shown, "250" in shown) == (True, False)

    async def test_fewest_counts_and_is_no_text(self) -> None:
        shown = await output("which country has the fewest closed orders", seen=True)
        assert ("Sweden" in shown, "Norway" in shown) == (True, False)

    async def test_a_word_that_is_no_value_of_the_column_is_not_searched_for(self) -> None:
        assert not read("show rows where country has unicorns", seen=True).actions

    async def test_the_ones_after_and_are_added(self) -> None:
        understood = read("open orders and the ones from Norway", seen=True)
        assert "status is 'open' or country is 'Norway'" in understood.restatement
        assert "closed" in await output("open orders and the ones from Norway", seen=True)

    def test_a_second_group_of_several_conditions_is_refused(self) -> None:
        request = "orders with price over 20 and status open and the ones from Norway"
        assert not read(request, seen=True).actions
