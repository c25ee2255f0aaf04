"""Turns a program into a flow: each clause becomes steps on what it works on."""

from collections.abc import Sequence

from headgate.agents.assistant.offline.assembly import outputs
from headgate.agents.assistant.offline.assembly.choices import choose
from headgate.agents.assistant.offline.assembly.columns import known_column
from headgate.agents.assistant.offline.assembly.each import figures, on_each
from headgate.agents.assistant.offline.assembly.fixed import arithmetic, calculate, date, wait_on
from headgate.agents.assistant.offline.assembly.focus import default_source, focus, loose
from headgate.agents.assistant.offline.assembly.planning import (
    OUTPUTS,
    SUMMARIES,
    asks_only_to_see,
    fitting,
    make_plan,
    pieces_of,
)
from headgate.agents.assistant.offline.assembly.shapes import as_table
from headgate.agents.assistant.offline.assembly.together import together
from headgate.agents.assistant.offline.assembly.values import Value
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.grammar.operations import Choice, Operation, Part, Statement

_NUMERIC = frozenset({"over", "under", "least", "most"})


class Assembler:
    """Carries out a program on a workshop."""

    def __init__(self, shop: Workshop) -> None:
        self.shop = shop

    def run(self, parts: Sequence[Part]) -> None:
        """Assemble every part, in order."""
        for part in parts:
            if isinstance(part, Choice):
                self.choice(part)
            else:
                self.statement(part)

    def statement(self, statement: Statement) -> None:
        """One clause; its results become the current values."""
        shop = self.shop
        _note_lacking(shop, statement)
        pieces = pieces_of(statement)
        unspecified = not statement.mentions and not statement.has("source", "derive", "literal", *SUMMARIES)
        before = list(shop.current) if statement.link == "also" and statement.has(*OUTPUTS) else []
        results: list[Value] = []
        for piece in pieces:
            values, operations = focus(shop, piece, plain=len(pieces) > 1)
            values = [*before, *(value for value in values if value not in before)]
            results += self._worked(values, operations, piece)
        results = together(shop, results, make_plan(statement.operations).collective, unspecified=unspecified)
        if results:
            shop.current = results
            _note_wanted(shop, statement, results)

    def _worked(self, values: list[Value], operations: list[Operation], statement: Statement) -> list[Value]:
        """The values after everything that is done on each of them."""
        shop = self.shop
        spoken = _spoken_columns(shop, values, statement)
        plan = make_plan(operations)
        values = fitting(shop, values, plan)
        made = _made(shop, values, operations)
        if made and not _stands_beside(statement):
            values = _beside(values, made, operations)
            made = []
        if shop.pending_wait is not None and values:
            values = [wait_on(shop, values[0], shop.take_wait()), *values[1:]]
        if spoken and not plan.summaries and plan.by is None and asks_only_to_see(statement):
            plan.single.insert(0, Operation("columns", {"columns": spoken, "beside": False}))
        if not values and plan.needs_input:
            values = [default_source(shop, statement, table=plan.by is not None)]
        if plan.summaries and statement.has("listed"):
            return [*figures(shop, values, plan), *values]
        if plan.listing:
            others = [operation for operation in plan.single if operation not in plan.listing]
            values = on_each(shop, values, others)
            return [*figures(shop, values, plan), *on_each(shop, values, plan.listing)]
        values = figures(shop, on_each(shop, values, plan.before), plan)
        return [*made, *on_each(shop, values, plan.after)]

    # choices

    def choice(self, choice: Choice) -> None:
        """A choice on what its condition speaks of; its joined result becomes current."""
        self.shop.current = choose(self.shop, choice, self._chosen(choice), self._body)

    def _chosen(self, choice: Choice) -> Value:
        """The value that a choice looks at."""
        shop, first = self.shop, choice.cases[0]
        condition = first.condition
        if first.focus is not None:
            values, operations = focus(shop, first.focus)
            values = on_each(shop, values, [operation for operation in operations if operation.name == "model"])
            if values:
                return self._fit(values[0], choice)
        if shop.current:
            return self._fit(shop.current[0], choice)
        comparing = condition.operator in _NUMERIC | {"between", "is"}
        return default_source(shop, None, record=bool(condition.column) and comparing and not condition.measure)

    def _fit(self, value: Value, choice: Choice) -> Value:
        """The value to look at: rows rather than their counts, the form for a field nobody else has."""
        shop, condition = self.shop, choice.cases[0].condition
        field_only = condition.column and condition.operator in _NUMERIC and not condition.measure
        if field_only and value.kind == "text" and value.source == "s.text":
            return default_source(shop, None, record=True)
        if value.kind == "table" and not condition.measure and value.query is not None and value.query.aggregated:
            rows = [one for one in shop.values if one.kind == "table" and not (one.query and one.query.aggregated)]
            return rows[-1] if rows and condition.quantifier else value
        return as_table(shop, value) if value.kind == "file" and "tabular" in value.tags else value

    def _body(self, parts: Sequence[Part], value: Value) -> list[Value]:
        """The statements of a branch; gives its results, none when it ended in an output."""
        shop = self.shop
        known, before = len(shop.values), len(shop.outputs)
        shop.current = [value]
        shop.values.append(value)
        self.run(parts)
        ended = len(shop.outputs) > before
        for made in shop.values[known:]:
            made.of_branch = True
            made.consumed = made.consumed or ended or made not in shop.current
        return [] if ended else [one for one in shop.current if one is not value or not parts]

    def finish(self) -> None:
        """Show what nothing has used, unless it is only a source; drop sources that nothing reads."""
        shop = self.shop
        wanted = [value for value in shop.values if value.wanted and not shop.outputs]
        ends = [value for value in loose(shop) if value.source == "" or not shop.outputs]
        left = [value for value in dict.fromkeys([*wanted, *ends]) if value.node not in shop.outputs]
        if not left and not shop.outputs:
            left = [value for value in shop.current if not value.consumed]
        if left:
            outputs.show(shop, left)
        if any(value.source == "s.file" for value in shop.values):
            for mark in shop.reading.find_all(0, len(shop.reading), "f."):
                shop.reading.claim(mark.start, mark.end)
        for node in _unconnected(shop):
            shop.draft.remove(node)


def _made(shop: Workshop, values: Sequence[Value], operations: Sequence[Operation]) -> list[Value]:
    """Values an operation makes by itself: a date, a calculation."""
    made: list[Value] = []
    for operation in operations:
        if operation.name == "date":
            made.append(date(shop, operation))
        elif operation.name == "calculate":
            made.append(calculate(shop, operation))
        elif operation.name == "arithmetic":
            table = next((value for value in values if value.kind in {"table", "file"}), None)
            made.append(arithmetic(shop, operation, table))
    return made


def _stands_beside(statement: Statement) -> bool:
    """Whether a date is one of several things a clause asks for: `the time and the number of packages`."""
    return statement.has("date") and statement.has("source", "derive") and not statement.has("combine")


def _beside(values: list[Value], made: list[Value], operations: Sequence[Operation]) -> list[Value]:
    """What was made, with what else the clause names where it is to be combined."""
    combined = [operation for operation in operations if operation.name == "combine"]
    if combined:
        return [*made, *values] if combined[0].slots.get("first") else [*values, *made]
    return [*(value for value in values if value.label == "text" and value.source == ""), *made]


def _note_lacking(shop: Workshop, statement: Statement) -> None:
    for operation in statement.operations:
        if operation.name == "unsupported":
            words = operation.slots.get("name") or operation.slots["word"]
            shop.lacking_at.append((operation.start, operation.end))
            shop.lacking.append(f"{operation.slots['sense']}:{words}")


def _note_wanted(shop: Workshop, statement: Statement, results: Sequence[Value]) -> None:
    """`which packages are MIT and how many are there`: the answer to `which` is to be seen as well."""
    asked = shop.reading.find(statement.start, statement.end, "q.what") is not None
    for value in results if asked and statement.has("filter", "superlative") else ():
        value.wanted = True


def _spoken_columns(shop: Workshop, values: Sequence[Value], statement: Statement) -> list[str]:
    """Columns of the table at hand that a clause names without a word such as `columns`; claims their words."""
    tables = [value for value in values if value.kind == "table" and value.columns and not value.by]
    spoken: list[str] = []
    for mention in statement.mentions if tables else ():
        if mention.kind != "named" or mention.start in shop.reading.used:
            continue
        words = [shop.reading.tokens[at].word for at in range(mention.start, mention.end)]
        found = [column for word in words if (column := known_column(word, tables[0].columns or ()))]
        if found:
            shop.reading.claim(mention.start, mention.end)
            shop.last_column = tables[0].last_column = found[-1]
            spoken += [column for column in found if column not in spoken]
    return spoken


def _unconnected(shop: Workshop) -> list[str]:
    """Sources that nothing reads: what they stand for reaches its step through the form."""
    connected = {end for edge in shop.draft.edges for end in (edge.source, edge.target)}
    known = {node.id for node in shop.draft.base.nodes}
    loose_nodes = [node for node in shop.draft.nodes if node not in connected and node not in known]
    return loose_nodes if len(shop.draft.nodes) > 1 else []
