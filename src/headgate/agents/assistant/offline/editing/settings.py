"""Edits of values: `save it as report.md instead`, `use top 20 instead of 10`, `set compare of limit to 5000`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from headgate.agents.assistant.offline.assembly.targets import TARGETS, names_of
from headgate.agents.assistant.offline.editing.moves import Edited
from headgate.agents.assistant.offline.editing.nodes import NodeFinder
from headgate.agents.assistant.offline.grammar.slots import duration_at, number_at, separator_at, value_at
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.features.catalog.words import base_forms, word_set, words
from headgate.graph.model import Node
from headgate.graph.template import Catalog, FieldKind, FieldTemplate

_FIELD_WORDS = {
    "separator": "separator delimiter between joiner avskiljare",
    "url": "url address link page site website adress",
    "name": "filename file name filnamn",
    "seconds": "seconds wait pause delay duration",
    "compare": "limit threshold value compare boundary gräns cutoff",
    "title": "title heading rubrik",
    "sql": "query sql",
    "pattern": "pattern regex",
    "template": "template text wording",
    "text": "text wording",
    "timezone": "timezone zone tidszon",
    "model": "model modell",
    "prompt": "prompt instruction instructions",
    "expression": "expression formula",
}
"""Words people use for a field whose name they do not know."""
_VAGUE = word_set("field value setting text name file list model table")
"""Names of fields that more often mean something else; they are tried last."""
_TO = word_set("to = be as into till is vara with by use")


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of one field to be set."""

    node: Node
    field: str
    value: JsonValue


def set_values(reading: Reading, finder: NodeFinder, catalog: Catalog) -> Edited | None:
    """The values a request changes; None when it changes none that can be found."""
    settings = list(_settings(reading, finder, catalog))
    if not settings:
        return None
    flow, done = finder.flow, []
    for setting in settings:
        node = flow.node(setting.node.id) or setting.node
        changed = node.model_copy(update={"params": {**node.params, setting.field: setting.value}})
        flow = flow.model_copy(update={"nodes": tuple(changed if one.id == node.id else one for one in flow.nodes)})
        done.append(f"Set {setting.field} of {node.id} to {setting.value!r}.")
    return Edited(flow, " ".join(done))


def _settings(reading: Reading, finder: NodeFinder, catalog: Catalog) -> Iterator[Setting]:
    readers = (
        _replaced_text,
        _named_field,
        _file_name,
        _web_address,
        _duration,
        _replaced_number,
        _top,
        _threshold,
        _separator,
        _order,
        _target,
    )
    for read in readers:
        found = read(reading, finder, catalog)
        if found is not None:
            reading.claim(0, len(reading))
            yield found
            return


def _replaced_text(reading: Reading, finder: NodeFinder, _catalog: Catalog) -> Setting | None:
    """`instead of 'Approved' say 'Fine'`: the quoted text that stands in the flow gives way to the other."""
    quoted = [str(token.value) for token in reading.tokens if token.kind is Kind.QUOTED and str(token.value).strip()]
    for old in quoted if len(quoted) == 2 else ():
        new = next(text for text in quoted if text is not old)
        for node in finder.flow.nodes:
            for name, value in node.params.items():
                if isinstance(value, str) and old in value:
                    return Setting(node, name, value.replace(old, new))
    return None


def _named_field(reading: Reading, finder: NodeFinder, catalog: Catalog) -> Setting | None:
    """`change the separator of combine to a comma`, `the url should be https://...`."""
    order = sorted(range(len(reading)), key=lambda at: reading.tokens[at].word in _VAGUE)
    for at in order:
        if reading.tokens[at].kind is not Kind.WORD:
            continue
        for node, field in _fields_called(reading, at, finder, catalog):
            value = _value_after(reading, at + 1, field)
            if value is not None:
                return Setting(node, field.name, value)
    return None


def _fields_called(
    reading: Reading, at: int, finder: NodeFinder, catalog: Catalog
) -> Iterator[tuple[Node, FieldTemplate]]:
    """Nodes with a field of that name, the one named elsewhere in the request first."""
    word = reading.tokens[at].word
    forms = set(base_forms(word))
    exact = [one.node.id for one in finder.exact(reading, 0, len(reading))]
    nodes = sorted(finder.flow.nodes, key=lambda node: node.id not in exact)
    for close in (True, False):
        for node in nodes:
            template = catalog.template(node.type, node.params)
            for field in template.fields if template is not None else ():
                known = set(_FIELD_WORDS.get(field.name, "").split())
                named = field.name == word if close else bool(forms & (known | set(words(field.label))))
                if named and (not exact or node.id in exact):
                    yield node, field


def _value_after(reading: Reading, at: int, field: FieldTemplate) -> JsonValue | None:
    """The value behind `to`, `=` or `should be`, read as the field wants it."""
    end = len(reading)
    file = next((token.text for token in reading.tokens if token.kind is Kind.FILE), "")
    if field.name == "name" and file:
        return file
    to = next((n for n in range(at, end) if reading.tokens[n].word in _TO), None)
    if to is None and not _stands_alone(reading, at, field):
        return None
    start = at if to is None else to + 1
    while start < end - 1 and (
        reading.tokens[start].word in {"a", "an", "the", "en", "ett"} or reading.tokens[start].kind is Kind.COLON
    ):
        start += 1
    while end > start and reading.is_punctuation(end - 1):
        end -= 1
    if start >= end:
        return None
    return _as_field_value(reading, start, end, field)


def _stands_alone(reading: Reading, at: int, field: FieldTemplate) -> bool:
    """`the heading Overview`: the value stands right behind the field's name, at the end."""
    left = [n for n in range(at, len(reading)) if not reading.is_punctuation(n)]
    if not left or len(left) > 4 or field.name not in {"title", "name", "url", "template", "text"}:
        return False
    token = reading.tokens[left[0]]
    return token.kind in {Kind.QUOTED, Kind.URL, Kind.FILE} or (field.name != "url" and token.text[:1].isupper())


def _as_field_value(reading: Reading, start: int, end: int, field: FieldTemplate) -> JsonValue | None:
    if field.name == "separator" and (found := separator_at(reading, start, end)) is not None:
        return found[0].replace("\n", "\\n")
    if field.kind in {FieldKind.NUMBER, FieldKind.INTEGER}:
        number = duration_at(reading, start, end) or number_at(reading, start, end)
        return number[0] if number is not None else None
    if field.kind is FieldKind.BOOLEAN:
        return reading.tokens[start].word in {"true", "yes", "on", "ja", "på"}
    if field.kind is FieldKind.SELECT:
        said = reading.source(start, end).lower()
        return next((option for option in field.options if option.lower() in said), None)
    token = reading.tokens[start]
    if field.name == "url" and token.kind not in {Kind.URL, Kind.QUOTED, Kind.PATH}:
        return None
    if token.kind in {Kind.QUOTED, Kind.URL, Kind.FILE, Kind.PATTERN}:
        return str(token.value if token.kind is not Kind.FILE else token.text)
    number = number_at(reading, start, end) if token.kind is Kind.NUMBER else None
    return _plain_number(number[0]) if number is not None and number[1] >= end - 1 else reading.source(start, end)


def _plain_number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)


def _of_type(finder: NodeFinder, *types: str) -> Node | None:
    """The last node of one of these types."""
    return next((node for node in reversed(finder.flow.nodes) if node.type in types), None)


def _file_name(reading: Reading, finder: NodeFinder, _catalog: Catalog) -> Setting | None:
    """A new file name in place of the old: with `instead`, `rather than`, `rename`, or the old name beside it."""
    names = [token.text for token in reading.tokens if token.kind is Kind.FILE]
    if not names or _adds(reading):
        return None
    node = next((n for n in finder.flow.nodes if n.type == "SaveFile" and n.params.get("name") in names), None)
    replaces = reading.find(0, len(reading), "l.instead", "e.rename") is not None or node is not None
    new = next((name for name in names if node is None or name != node.params.get("name")), None)
    node = node or _of_type(finder, "SaveFile")
    return (
        Setting(node, "name", new)
        if node is not None and new is not None and (replaces or (len(finder.flow.nodes) > 0 and _only_saves(reading)))
        else None
    )


def _adds(reading: Reading) -> bool:
    """Whether something is to be done besides: `also save it as ...`."""
    return (
        reading.find(0, len(reading), "l.also", "e.add") is not None
        and reading.find(0, len(reading), "l.instead") is None
    )


def _only_saves(reading: Reading) -> bool:
    """Whether the request says no more than under what name to save."""
    verbs = [at for at in range(len(reading)) if reading.is_action(at) and reading.mark(at, "v.") is not None]
    return all(reading.mark(at, "v.save", "v.convert", "v.say") is not None for at in verbs)


def _web_address(reading: Reading, finder: NodeFinder, _catalog: Catalog) -> Setting | None:
    urls = [str(token.value) for token in reading.tokens if token.kind is Kind.URL]
    if not urls or _adds(reading):
        return None
    node = _of_type(finder, "URL", "HTTPRequest", "WebhookOut")
    new = next((url for url in urls if node is None or url != node.params.get("url")), None)
    changes = reading.find(0, len(reading), "l.instead", "e.set", "v.convert", "v.take", "e.replace") is not None
    return Setting(node, "url", new) if node is not None and new is not None and changes else None


def _duration(reading: Reading, finder: NodeFinder, _catalog: Catalog) -> Setting | None:
    """Another time for a step that waits already."""
    node = _of_type(finder, "Wait")
    if node is None or reading.find(0, len(reading), "v.wait", "l.instead", "e.set") is None or _adds(reading):
        return None
    for at in range(len(reading)):
        found = duration_at(reading, at, len(reading))
        if found is not None and reading.find(0, len(reading), "v.wait") is not None:
            return Setting(node, "seconds", found[0])
    return None


def _replaced_number(reading: Reading, finder: NodeFinder, _catalog: Catalog) -> Setting | None:
    """`20 instead of 10`: the 10 is looked for among the values of the flow."""
    mark = reading.find(0, len(reading), "l.instead")
    numbers = [
        (at, number_at(reading, at, len(reading)))
        for at in range(len(reading))
        if reading.tokens[at].kind is Kind.NUMBER
    ]
    if mark is None or len(numbers) != 2 or any(found is None for _, found in numbers):
        return None
    new, old = (_plain_number(found[0]) for _, found in numbers if found is not None)
    for node in reversed(finder.flow.nodes):
        for name, value in node.params.items():
            if isinstance(value, int | float) and not isinstance(value, bool) and _plain_number(value) == old:
                return Setting(node, name, float(new) if "." in new else int(new))
            if isinstance(value, str) and re.search(rf"(?<!\d){re.escape(old)}(?!\d)", value):
                return Setting(node, name, re.sub(rf"(?<!\d){re.escape(old)}(?!\d)", new, value))
    return None


def _top(reading: Reading, finder: NodeFinder, _catalog: Catalog) -> Setting | None:
    """`top 20`, `only the first 5`: the limit of the query that has one."""
    first = reading.find(0, len(reading), "o.first", "o.most")
    number = number_at(reading, first.end, len(reading)) if first is not None else None
    node = next((n for n in reversed(finder.flow.nodes) if "LIMIT" in str(n.params.get("sql", "")).upper()), None)
    if number is None or node is None:
        return None
    sql = re.sub(r"(?i)LIMIT \d+", f"LIMIT {int(number[0])}", str(node.params["sql"]))
    return Setting(node, "sql", sql)


def _threshold(reading: Reading, finder: NodeFinder, _catalog: Catalog) -> Setting | None:
    """`raise the limit to 20 000`."""
    node = _of_type(finder, "If")
    words_ = {token.word for token in reading.tokens}
    if node is None or not words_ & {
        "limit",
        "threshold",
        "cutoff",
        "gräns",
        "gränsen",
        "boundary",
        str(node.params.get("field", "")),
    }:
        return None
    numbers = [
        found
        for at in range(len(reading))
        if (found := value_at(reading, at, len(reading))) and isinstance(found[0], int | float)
    ]
    return Setting(node, "compare", _plain_number(float(numbers[-1][0]))) if numbers else None


def _separator(reading: Reading, finder: NodeFinder, _catalog: Catalog) -> Setting | None:
    """`use ' / ' as the separator`, `separate them with commas`."""
    node = _of_type(finder, "CombineText", "Merge", "SplitText")
    at = next(
        (
            n
            for n, token in enumerate(reading.tokens)
            if token.word in {"separator", "separate", "separated", "delimiter", "avskiljare"}
        ),
        None,
    )
    if node is None or at is None:
        return None
    for n in range(len(reading)):
        found = separator_at(reading, n, len(reading))
        if found is not None and reading.tokens[n].word not in {"separator", "line"}:
            return Setting(node, "separator", found[0].replace("\n", "\\n"))
    return None


def _order(reading: Reading, finder: NodeFinder, _catalog: Catalog) -> Setting | None:
    """`sort by name`: the order of the query at hand."""
    node = _of_type(finder, "TableQuery")
    mark = reading.find(0, len(reading), "v.sort")
    if node is None or mark is None or len([at for at in range(len(reading)) if reading.is_content(at)]) > 4:
        return None
    by = next(
        (at for at in range(mark.end, len(reading)) if reading.is_content(at) or reading.mark(at, "n.column")), None
    )
    if by is None or reading.mark(by, "o.") is not None:
        return None
    column = reading.meant(by)
    column = column if re.fullmatch(r"\w+", column) else f't."{column.replace(chr(34), "")}"'
    descending = " DESC" if reading.find(0, len(reading), "o.desc") else ""
    sql = re.sub(r"(?is)\s+ORDER BY .*?(?=\s+LIMIT\b|$)", "", str(node.params.get("sql", "SELECT * FROM t")))
    head, limit, tail = sql.partition(" LIMIT ")
    return Setting(node, "sql", f"{head} ORDER BY {column}{descending}{limit}{tail}")


def _target(reading: Reading, finder: NodeFinder, _catalog: Catalog) -> Setting | None:
    """`look for phone numbers instead of emails`."""
    node = _of_type(finder, "Regex")
    if node is None or reading.find(0, len(reading), "l.instead") is None:
        return None
    mark = next(
        (
            m
            for m in reading.find_all(0, len(reading), "t.")
            if TARGETS[m.sense].pattern != node.params.get("pattern") and names_of(m.sense)[0] not in node.id
        ),
        None,
    )
    return Setting(node, "pattern", TARGETS[mark.sense].pattern) if mark is not None else None
