"""Which node of the flow a few words mean: by id, label, type, role or place."""

from collections.abc import Sequence
from dataclasses import dataclass

from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.features.catalog.search import WordIndex
from headgate.features.catalog.words import base_forms, word_set
from headgate.graph.model import Flow, Node
from headgate.graph.template import Catalog

_ROLES = {
    "SaveFile": "file save saving saved store storing storage write writing written export output report result disk"
    " spara filen",
    "ChatOutput": "show showing display displaying output answer chat print printing reply visa svar",
    "Wait": "wait waiting pause pausing delay sleep break vänta paus",
    "URL": "page website site url address fetch fetching download downloading web link sida hämta",
    "HTTPRequest": "request api call calling endpoint url address fetch fetching",
    "WebhookOut": "webhook hook send sending post posting url address",
    "If": "condition check checking limit threshold branch test decision if villkor gräns",
    "Switch": "switch choice route routing branch cases",
    "Merge": "merge merging join decision finding",
    "CombineText": "combine combining join joining report text separator",
    "PromptTemplate": "template report letter text combine combining",
    "TableQuery": "query table sql count counting counts sort sorting top filter rows list",
    "Regex": "pattern regex search extract extracting find finding match replace replacing mask masking",
    "SplitText": "split splitting lines sentences paragraphs parts",
    "SelectData": "select selection pick picking filter filtering count counting",
    "TextInput": "text input source start",
    "ChatInput": "message chat input text",
    "FormInput": "form input fields",
    "FileInput": "file upload input document",
    "ReadFile": "read reading file document",
    "InstalledPackages": "packages libraries source list listing",
    "Calculator": "calculation calculate calculating calculator formula",
    "CurrentDate": "date time today clock",
    "AIStep": "summary model prompt ai translation",
}
"""Words for what a step does, by component type; ids, labels and keywords count too."""
_DOING = {
    "v.save": ("SaveFile",),
    "v.show": ("ChatOutput",),
    "v.send": ("WebhookOut", "HTTPRequest"),
    "v.fetch": ("URL", "HTTPRequest"),
    "v.wait": ("Wait",),
    "v.combine": ("CombineText", "PromptTemplate", "Merge"),
    "v.join": ("CombineText", "SelectData"),
    "v.split": ("SplitText",),
    "v.extract": ("Regex",),
    "v.replace": ("Regex",),
    "v.mask": ("Regex",),
    "v.count": ("TableQuery", "SelectData"),
    "v.sort": ("TableQuery", "SelectData"),
    "v.group": ("TableQuery",),
    "v.sum": ("TableQuery", "SelectData"),
    "v.keep": ("TableQuery", "SelectData"),
    "v.drop": ("TableQuery", "SelectData", "Regex"),
    "v.parse": ("ParseJSON",),
    "v.calculate": ("Calculator",),
    "v.check": ("If", "Switch"),
    "v.say": ("ChatOutput", "SelectData"),
    "v.take": ("ReadFile", "URL", "FileInput", "FormInput", "InstalledPackages", "TextInput"),
    "v.list": ("InstalledPackages",),
}
"""Component types that do what a verb says."""
_STEP_WORDS = word_set("step node component block box nod noden steg steget part")
_LEAST = 1.0


@dataclass(frozen=True, slots=True)
class Named:
    """A node that some words mean; `exact` when they are its id or type."""

    node: Node
    start: int
    end: int
    exact: bool


class NodeFinder:
    """Finds the nodes of one flow by what people call them."""

    def __init__(self, flow: Flow, catalog: Catalog) -> None:
        self.flow = flow
        entries = {node.id: _texts(node, catalog) for node in flow.nodes}
        self._index = WordIndex(entries)
        self._order = [node.id for node in flow.nodes]

    def find(self, reading: Reading, start: int, end: int) -> Named | None:
        """The node that the words of a range mean best; None when they mean none."""
        return (
            self._exact(reading, start, end) or self._by_place(reading, start, end) or self._alike(reading, start, end)
        )

    def doing(self, reading: Reading, start: int, end: int) -> Node | None:
        """The node that does what the words say: `saving the report` is the step that saves; else the one they name."""
        verb = next(
            (
                mark
                for at in range(start, end)
                if (mark := reading.mark(at, "v.")) is not None and _is_verb(reading, at)
            ),
            None,
        )
        first = next(
            (at for at in range(start, end) if not reading.is_light(at) or reading.mark(at, "v.") is not None), start
        )
        if verb is not None and verb.start == first:
            sense = reading.mark(verb.start, *_DOING)
            able = [node for node in self.flow.nodes if sense is not None and node.type in _DOING[sense.sense]]
            if able:
                named = self.find(reading, verb.end, end) if verb.end < end else None
                return named.node if named is not None and named.node in able else able[-1]
        found = self.find(reading, start, end)
        return found.node if found is not None else None

    def exact(self, reading: Reading, start: int, end: int) -> list[Named]:
        """Every node called by its id in a range, in order."""
        found: list[Named] = []
        at = start
        while at < end:
            one = self._exact(reading, at, min(at + 1, end)) or self._exact(reading, at, min(at + 2, end))
            if one is not None:
                found.append(one)
                at = one.end
            else:
                at += 1
        return found

    def _exact(self, reading: Reading, start: int, end: int) -> Named | None:
        for length in (3, 2, 1):
            for at in range(start, end - length + 1):
                words = [reading.tokens[n].word for n in range(at, at + length)]
                names = {"_".join(words), "".join(words)}
                node = next((node for node in self.flow.nodes if node.id in names or node.type.lower() in names), None)
                if node is not None and all(
                    reading.tokens[n].kind in {Kind.WORD, Kind.PATH, Kind.NUMBER} for n in range(at, at + length)
                ):
                    return Named(node, at, at + length, exact=True)
        return None

    def _by_place(self, reading: Reading, start: int, end: int) -> Named | None:
        """`the last step`, `the first node`, `the end`."""
        for at in range(start, end):
            word = reading.tokens[at].word
            ahead = at + 1 < end and reading.tokens[at + 1].word in _STEP_WORDS
            if ahead and word in {"last", "final", "sista"}:
                return Named(self.flow.nodes[-1], at, at + 2, exact=True)
            if ahead and word in {"first", "första"}:
                return Named(self.flow.nodes[0], at, at + 2, exact=True)
        return None

    def _alike(self, reading: Reading, start: int, end: int) -> Named | None:
        places = [
            at
            for at in range(start, end)
            if reading.tokens[at].kind is Kind.WORD and reading.tokens[at].word not in _STEP_WORDS
        ]
        query = " ".join(reading.meant(at) for at in places)
        matches = [match for match in self._index.search(query, most=4) if match.score >= _LEAST]
        if not matches:
            return None
        best = max(match.score for match in matches)
        tied = [match.key for match in matches if match.score >= best * 0.999]
        chosen = max(tied, key=self._order.index)
        node = self.flow.node(chosen)
        return Named(node, start, end, exact=False) if node is not None else None


def _is_verb(reading: Reading, at: int) -> bool:
    """`saving`, `before you save`; not the noun in `after the report`."""
    return reading.tokens[at].word.endswith("ing") or reading.is_action(at)


def _texts(node: Node, catalog: Catalog) -> Sequence[tuple[str, float]]:
    template = catalog.template(node.type)
    texts = [(node.id, 4.0), (node.label, 3.0), (node.type, 2.5), (_ROLES.get(node.type, ""), 1.5)]
    texts += [(str(value), 2.0) for name, value in node.params.items() if name == "name"]
    return texts + ([(template.label, 2.5), (" ".join(template.keywords), 0.7)] if template is not None else [])


def is_step_word(word: str) -> bool:
    """Whether a word says that a step is meant: `the wait step`."""
    return word in _STEP_WORDS or any(form in _STEP_WORDS for form in base_forms(word))
