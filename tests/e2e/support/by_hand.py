"""Builds a flow in the page as a newcomer does: components by their everyday names, connections, values, triggers.

A flow is data: its definition says what is added, connected and written. Every click and every key is counted, also
those of a text that the test pastes in one go.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.e2e.support.choosing import choose

EVERYDAY = {
    "AIStep": "ai", "Agent": "agent", "AnswerFromKnowledge": "knowledge", "Approval": "approval",
    "Calculator": "calculate", "Chart": "chart", "ChatInput": "chat input", "ChatOutput": "chat output",
    "Classify": "classify", "CurrentDate": "today", "DateMath": "yesterday", "ExtractHTML": "html",
    "FileInput": "file", "ForEach": "for each", "FormInput": "form", "HTTPRequest": "http", "If": "if",
    "MakeDocument": "word", "Map": "map", "Merge": "merge", "MessageHistory": "memory", "Notify": "notify",
    "PromptTemplate": "prompt", "ReadCalendar": "read calendar", "ReadFeed": "feed", "ReadFile": "read file",
    "ReadState": "read state", "Regex": "regular", "SelectData": "select data", "SendMail": "send mail",
    "SqlQuery": "sql query", "SqlWrite": "sql write", "StructuredOutput": "structured", "TableQuery": "table query",
    "URL": "web page", "WriteSpreadsheet": "write spreadsheet", "WriteState": "write state",
}  # fmt: skip
"""What is typed into the search for a component: its first result is taken."""
ANSWERS = {"text": "Text", "long_text": "Long text", "number": "Number"}
TYPES = {"string": "Text", "number": "Number", "array": "Text"}
POLLS = {
    "mail": "For new mail", "feed": "For new entries of a feed", "page": "When a web page changes",
    "folder": "For new files in a folder",
}  # fmt: skip
POLLED = {"url": "Address", "folder": "Folder", "subject": "Subject contains"}
REFERENCE = re.compile(r"\{\{\s*(\w+)([^}]*)\}\}")
REACHED = """one => {
  const box = one.getBoundingClientRect();
  return one.contains(document.elementFromPoint(box.x + 40, box.y + 12));
}"""
RESTS = """() => new Promise((done) => {
  const view = () => document.querySelector(".react-flow__viewport").style.transform;
  const seen = view();
  setTimeout(() => done(view() === seen), 80);
})"""
Definition = Mapping[str, Any]


class Hand:
    """Somebody at the page of an empty flow. `components`: the catalogue by type."""

    def __init__(self, page: Page, components: Mapping[str, Definition]) -> None:
        self.page = page
        self.components = components
        self.types: dict[str, str] = {}
        """Types of the steps of the definition."""
        self.made: dict[str, str] = {}
        """Ids in the page by those of the definition."""
        self.seen: set[str] = set()
        """Ids of the edges that were drawn: what is out of sight is not."""
        self.clicks = self.keys = 0
        self.questions: Sequence[Definition] = ()
        self.inspector = page.get_by_role("complementary", name="Inspector")
        self.dialog = page.get_by_role("dialog")

    def click(self, target: Locator, **how: Any) -> None:
        """Click once."""
        target.click(**how)
        self.clicks += 1

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)
        self.keys += len(keys)

    def type(self, text: str) -> None:
        """Type where the focus is."""
        self.page.keyboard.type(text)
        self.keys += len(text)

    def write(self, box: Locator, text: str) -> None:
        """Replace what a box holds."""
        box.fill(text)
        self.clicks += 1
        self.keys += len(text)

    def choose(self, box: Locator, option: str) -> None:
        """Open a list and take one of its options."""
        choose(box, option)
        self.clicks += 2

    def build(self, definition: Definition) -> None:
        """Build the flow on the empty canvas."""
        self.questions = definition.get("form", ())
        self.types = {one["id"]: one["type"] for one in definition["nodes"]}
        for one in definition["nodes"]:
            self.add(one["id"], definition["edges"])
            if one["type"] == "FormInput":
                self.ask(definition["form"])
        for one in definition["nodes"]:
            self.fill(one)
        for edge in definition["edges"]:
            self.connect(edge)
        self.click(self.page.get_by_role("button", name="Auto layout"))

    # Steps and connections ------------------------------------------------------------------------------------------

    def fit(self) -> None:
        """Show the whole flow: what is out of sight is not drawn."""
        self.click(self.page.get_by_role("button", name="Fit to window"))
        self.rest()

    def rest(self) -> None:
        """Wait until the view stands still, as somebody does who looks where to click."""
        self.page.wait_for_function(RESTS)

    def edges(self) -> set[str]:
        """The ids of the edges on the canvas."""
        drawn = self.page.locator(".react-flow__edge")
        return set(drawn.evaluate_all("all => all.map(one => one.dataset.id)"))

    def edge(self, edge: Definition) -> str:
        """The id of an edge of the definition on the canvas."""
        return f"{self.made[edge['source']]}.{edge['output']}>{self.made[edge['target']]}.{edge['input']}"

    def select(self, name: str) -> None:
        """Click a step, unless it is the one that is selected."""
        chosen = self.page.locator(".react-flow__node.selected")
        found = self.page.locator(f'.react-flow__node[data-id="{self.made[name]}"]')
        if found.count() == 0:
            self.fit()
        if chosen.count() != 1 or chosen.get_attribute("data-id") != self.made[name]:
            self.rest()
            if not found.evaluate(REACHED):
                self.fit()
            self.click(found, position={"x": 40, "y": 12})
        expect(self.inspector.get_by_role("code")).to_have_text(self.made[name])

    def add(self, name: str, edges: Sequence[Definition]) -> None:
        """Add a step behind the one that leads to it, and take away a connection that was not meant."""
        leading = [edge["source"] for edge in edges if edge["target"] == name and edge["source"] in self.made]
        if leading:
            self.select(leading[0])
        elif self.made:
            self.press("Escape")
        before, known = self.edges(), [*self.made.values()]
        self.press("n")
        self.type(EVERYDAY[self.types[name]])
        label = self.components[self.types[name]]["label"]
        expect(self.dialog.get_by_role("option").first).to_contain_text(label)
        self.press("Enter")
        new = self.page.wait_for_function(
            """known => {
              const chosen = document.querySelector('.react-flow__node.selected')?.dataset.id;
              return chosen && !known.includes(chosen) && chosen;
            }""",
            arg=known,
        )
        self.made[name] = new.json_value()
        self.rest()
        meant = {self.edge(edge) for edge in edges if {edge["source"], edge["target"]} <= set(self.made)}
        for wrong in sorted(self.edges() - before - meant):
            self.click(self.inspector.get_by_role("button", name="Disconnect").first)
            expect(self.page.locator(f'.react-flow__edge[data-id="{wrong}"]')).to_have_count(0)
        self.seen |= self.edges()

    def connect(self, edge: Definition) -> None:
        """Connect two steps with the keyboard, where that did not happen by itself."""
        if self.edge(edge) in self.seen:
            return
        self.select(edge["source"])
        self.page.locator(f'.react-flow__node[data-id="{self.made[edge["source"]]}"]').focus()
        self.press("c")
        choices = self.dialog.get_by_role("option")
        first = choices.all_inner_texts()
        if not any(":" in one for one in first):
            outputs = self.components[self.types[edge["source"]]]["outputs"]
            label = next((one["label"] for one in outputs if one["name"] == edge["output"]), edge["output"])
            self.type(label)
            self.press("Enter")
        target = self.components[self.types[edge["target"]]]
        label = next((one["label"] for one in target["fields"] if one["name"] == edge["input"]), edge["input"])
        twice = list(self.types.values()).count(self.types[edge["target"]]) > 1
        self.type(f"{target['label']}: {label} {self.made[edge['target']] if twice else ''}".rstrip())
        self.press("Enter")
        expect(self.page.locator(f'.react-flow__edge[data-id="{self.edge(edge)}"]')).to_have_count(1)

    # Values ---------------------------------------------------------------------------------------------------------

    def ask(self, form: Sequence[Definition]) -> None:
        """Write the questions of the form, at the step that outputs their answers."""
        for number, question in enumerate(form, 1):
            self.click(self.inspector.get_by_role("button", name="Add field"))
            box = self.inspector.get_by_role("textbox", name=f"Question {number}", exact=True)
            expect(box).to_be_focused()
            self.type(question["label"])
            self.press("Tab")
            if question["type"] != "text":
                self.choose(
                    self.inspector.get_by_role("combobox", name=f"Answer type: {question['label']}"),
                    ANSWERS[question["type"]],
                )
            self.click(self.inspector.get_by_role("button", name=f"More options for {question['label']}", exact=True))
            name = self.inspector.get_by_role("textbox", name="Name", exact=True).last
            if name.input_value() != question["id"]:
                self.write(name, question["id"])
                self.press("Tab")
            if question.get("required"):
                self.click(self.inspector.get_by_role("checkbox", name="Required", exact=True))
            self.click(self.inspector.get_by_role("button", name=f"More options for {question['label']}", exact=True))

    def fill(self, one: Definition) -> None:
        """Set the values of a step, and its policy."""
        component = self.components[one["type"]]
        for name, value in one["params"].items():
            self.select(one["id"])
            field = next(each for each in component["fields"] if each["name"] == name)
            if field.get("advanced"):
                more = self.inspector.get_by_role("button", name="Advanced", exact=True)
                if more.get_attribute("aria-expanded") != "true":
                    self.click(more)
            self.set(field, self.here(value))
        if one.get("policy", {}).get("outside_content", "refuse") == "allow":
            self.select(one["id"])
            self.click(self.inspector.get_by_role("tab", name="Policy"))
            self.click(self.inspector.get_by_role("radio", name="Allow all calls"))
            self.click(self.inspector.get_by_role("tab", name="Settings"))

    def here(self, value: Any) -> Any:
        """A value with the ids that the steps have in the page."""
        found = REFERENCE.sub(lambda one: f"{{{{{self.made.get(one[1], one[1])}{one[2]}}}}}", json.dumps(value))
        return json.loads(found)

    def set(self, field: Definition, value: Any) -> None:
        """Set a field by its label and kind."""
        label, kind = field["label"], field["kind"]
        box = self.inspector.get_by_role("textbox", name=label, exact=True).last
        if kind in {"select", "connection"}:
            self.choose(self.inspector.get_by_role("combobox", name=label, exact=True), str(value))
        elif kind == "boolean":
            self.click(self.inspector.get_by_role("switch", name=label, exact=True))
        elif kind == "flow":
            self.click(self.inspector.get_by_role("button", name=label))
            self.write(self.page.get_by_role("searchbox", name="Search flows"), str(value))
            self.click(self.page.get_by_role("button", name=str(value)).last)
        elif kind == "json" and isinstance(value, list):
            group = self.inspector.get_by_role("group", name=label, exact=True)
            for number, entry in enumerate(value, 1):
                if number > 1:
                    self.press("Enter")
                self.write(group.get_by_role("textbox", name=f"Entry {number}", exact=True), entry)
        elif kind == "json" and field["name"] == "schema":
            self.shape(value)
        elif kind == "json":
            self.write(box, json.dumps(value))
        else:
            self.text(box, str(value))

    def text(self, box: Locator, value: str) -> None:
        """Write a text; each reference is chosen from the list that opens at its braces."""
        self.write(box, value)

    def shape(self, schema: Definition) -> None:
        """Write a schema as fields."""
        group = self.inspector.get_by_role("group", name="Schema", exact=True)
        for number, (name, (kind, required, choices)) in enumerate(members(schema).items(), 1):
            self.click(group.get_by_role("button", name="Add field"))
            expect(group.get_by_role("textbox", name=f"Name of field {number}", exact=True)).to_be_focused()
            self.type(name)
            if kind == "array":
                self.click(group.get_by_role("button", name=f"{name} is a list", exact=True))
            elif kind != "string":
                self.choose(group.get_by_role("combobox", name=f"Type of {name}", exact=True), TYPES[kind])
            if choices:
                self.click(group.get_by_role("button", name=f"More options for {name}", exact=True))
                self.write(group.get_by_role("textbox", name=f"Allowed values of {name}"), ", ".join(choices))
                self.press("Tab")
            now = group.get_by_role("button", name=f"{name} is required", exact=True)
            if (now.get_attribute("aria-pressed") == "true") != required:
                self.click(now)

    # Triggers and the release ---------------------------------------------------------------------------------------

    def start_by(self, name: str, config: Definition) -> None:
        """Add what starts the flow."""
        self.click(self.page.get_by_role("link", name="Triggers").last)
        self.page.wait_for_url("**/triggers")
        expect(self.page.get_by_role("heading", name="Triggers", exact=True)).to_be_visible()
        self.click(self.page.get_by_role("button", name="Add trigger"))
        self.write(self.dialog.get_by_label("Name"), name)
        kind = config["kind"]
        if kind == "schedule":
            self.schedule(config["cron"])
        elif kind == "form":
            self.choose(self.dialog.get_by_role("combobox", name="Starts"), "When its form is submitted")
            self.write(self.dialog.get_by_label("Heading"), config["title"])
        elif kind == "webhook":
            self.choose(self.dialog.get_by_role("combobox", name="Starts"), "When a service calls it")
            self.choose(self.dialog.get_by_role("combobox", name="Verified as"), "GitHub")
        else:
            self.poll(config)
        self.answers(config)
        self.click(self.dialog.get_by_role("button", name="Add trigger"))
        if kind in {"webhook", "form"}:  # its secret is shown this once, or its address
            self.click(self.dialog.get_by_role("button", name="Done"))
        expect(self.dialog).to_be_hidden()

    def schedule(self, cron: str) -> None:
        """Set a schedule with the words of the dialog."""
        minute, hour, _, _, day = cron.split()
        repeat = "Every hour" if hour == "*" else "Every day" if day == "*" else "Every week"
        self.choose(self.dialog.get_by_role("combobox", name="Repeat"), repeat)
        if hour != "*":
            self.write(self.dialog.get_by_label("At", exact=True), f"{int(hour):02}:{int(minute):02}")

    def poll(self, config: Definition) -> None:
        """Set what is polled."""
        self.choose(self.dialog.get_by_role("combobox", name="Starts"), POLLS[config["kind"]])
        for field, label in POLLED.items():
            if field in config:
                self.write(self.dialog.get_by_role("textbox", name=label, exact=True), config[field])
        if "connection" in config:
            self.choose(self.dialog.get_by_role("combobox", name="Connection"), config["connection"])
        if "every_seconds" in config:
            self.write(self.dialog.get_by_label("Minutes between two polls"), str(config["every_seconds"] // 60))

    def answers(self, config: Definition) -> None:
        """Say which part of an item answers each question, where the dialog does not know."""
        asked = self.dialog.get_by_role("group", name="Answers of the form")
        for question in self.questions if "form_from" in config else ():
            part = config["form_from"][question["id"]]
            box = asked.get_by_role("textbox", name=question["label"], exact=True).or_(
                asked.get_by_role("combobox", name=question["label"], exact=True)
            )
            if box.input_value() != part:
                self.write(box, part)

    def publish(self) -> None:
        """Publish what was built."""
        self.click(self.page.get_by_role("link", name="Publish", exact=True))
        self.click(self.page.get_by_role("button", name="Publish the draft"))
        expect(self.page.get_by_text("Published as release 1", exact=True)).to_be_visible()


def members(schema: Definition) -> dict[str, tuple[str, bool, list[str]]]:
    """Type, whether it is required, and choices of each member of a schema, also of the short notation."""
    if "properties" not in schema:
        return {name: (kind.rstrip("?"), not kind.endswith("?"), []) for name, kind in schema.items()}
    found = {}
    for name, one in schema["properties"].items():
        of = one.get("items", one)
        found[name] = (one.get("type", "string"), name in schema.get("required", []), of.get("enum", []))
    return found
