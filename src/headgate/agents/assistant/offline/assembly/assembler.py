"""Turns a program into a flow: each clause becomes steps on what it works on."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from headgate.agents.assistant.offline.assembly import jmes, outputs, table_steps, text_steps
from headgate.agents.assistant.offline.assembly.choices import choose
from headgate.agents.assistant.offline.assembly.columns import known_column
from headgate.agents.assistant.offline.assembly.fixed import (
    arithmetic,
    calculate,
    component_step,
    date,
    model_step,
    pick,
    say,
    to_data,
    wait_first,
    wait_on,
)
from headgate.agents.assistant.offline.assembly.focus import default_source, focus, loose
from headgate.agents.assistant.offline.assembly.shapes import as_items, as_table, as_text, derive, realise, select
from headgate.agents.assistant.offline.assembly.values import Value
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.grammar.operations import Choice, Operation, Part, Statement

_COLLECTIVE = frozenset({"combine", "save", "show", "send", "wait", "join", "heading", "shape", "say", "which"})
_SUMMARIES = frozenset({"count", "aggregate", "tally"})


@dataclass(slots=True)
class _Plan:
    """The operations of one clause, sorted by how they are carried out."""

    summaries: list[Operation] = field(default_factory=list)
    by: list[str] | None = None
    single: list[Operation] = field(default_factory=list)
    collective: list[Operation] = field(default_factory=list)


class Assembler:
    """Carries out a program on a workshop."""

    def __init__(self, shop: Workshop) -> None:
        self.shop = shop
        self.title = ""
        self.unspecified = False
        """Whether the clause at hand names nothing it works on."""
        self.columns: list[str] = []
        """Columns spoken of in the clause at hand without a word such as `columns`."""

    def run(self, parts: Sequence[Part]) -> None:
        """Assemble every part, in order."""
        for part in parts:
            if isinstance(part, Choice):
                self.choice(part)
            else:
                self.statement(part)

    # clauses

    def statement(self, statement: Statement) -> None:
        """One clause; its results become the current values."""
        shop = self.shop
        self._note_lacking(statement)
        pieces = _parallel(statement)
        results: list[Value] = []
        before = list(shop.current) if statement.link == "also" and statement.has("save", "show", "send") else []
        for piece in pieces:
            self.unspecified = not piece.mentions and not piece.has("source", "derive", "literal", *_SUMMARIES)
            values, operations = focus(shop, piece, plain=len(pieces) > 1)
            values = [*before, *(value for value in values if value not in before)]
            self._spoken_columns(values, piece)
            results += self._carry_out(values, operations, piece)
        if len(pieces) > 1:
            results = self._collective(results, _plan(statement.operations).collective)
        if results:
            shop.current = results
            self._note_wanted(statement, results)

    def _note_wanted(self, statement: Statement, results: list[Value]) -> None:
        """`which packages are MIT and how many are there`: the answer to `which` is to be seen as well."""
        asked = self.shop.reading.find(statement.start, statement.end, "q.what") is not None
        for value in results if asked and statement.has("filter", "superlative") else ():
            value.wanted = True

    def _spoken_columns(self, values: list[Value], statement: Statement) -> None:
        """Take words that name a column of the table at hand: `the licences of the packages`."""
        shop = self.shop
        tables = [value for value in values if value.kind == "table" and value.columns and not value.by]
        for mention in statement.mentions if tables else ():
            if mention.kind != "named" or mention.start in shop.reading.used:
                continue
            words = [shop.reading.tokens[at].word for at in range(mention.start, mention.end)]
            found = [column for word in words if (column := known_column(word, tables[0].columns or ()))]
            if found:
                shop.reading.claim(mention.start, mention.end)
                shop.last_column = tables[0].last_column = found[-1]
                self.columns += [column for column in found if column not in self.columns]

    def _note_lacking(self, statement: Statement) -> None:
        for operation in statement.operations:
            if operation.name == "unsupported":
                self.shop.lacking_at.append((operation.start, operation.end))
                self.shop.lacking.append(
                    f"{operation.slots['sense']}:{operation.slots.get('name') or operation.slots['word']}"
                )

    def _carry_out(self, values: list[Value], operations: list[Operation], statement: Statement) -> list[Value]:
        plan = _plan(operations)
        values = _fitting(self.shop, values, plan)
        values = self._fixed(values, operations)
        if shop_waits(self.shop, values):
            values = [
                wait_on(self.shop, value, self.shop.take_wait()) if at == 0 else value
                for at, value in enumerate(values)
            ]
        spoken, self.columns = self.columns, []
        if (
            spoken
            and not plan.summaries
            and plan.by is None
            and statement.has("dedupe", "show", "save") | _asks_for(statement)
        ):
            plan.single.insert(0, Operation("columns", {"columns": spoken, "beside": False}))
        if not values and (plan.single or plan.summaries or _needs_input(plan)):
            values = [default_source(self.shop, statement, table=plan.by is not None)]
        if plan.summaries and statement.has("listed"):
            kept = list(values)
            return self._collective([*self._summaries(list(values), plan), *kept], plan.collective)
        if plan.summaries and any(operation.name in {"superlative"} for operation in plan.single) and plan.by is None:
            tops = [
                operation for operation in plan.single if operation.name in {"superlative", "limit", "sort", "columns"}
            ]
            others = [operation for operation in plan.single if operation not in tops]
            values = self._each(values, others)
            figures = self._summaries(list(values), plan)
            lists = self._each(list(values), tops)
            values = [*figures, *lists]
        else:
            after = _AFTER_SUMMARY | {"frequent"} if plan.summaries else _AFTER_SUMMARY
            before = [operation for operation in plan.single if operation.name not in after]
            values = self._each(values, before)
            values = self._summaries(values, plan)
            values = self._each(values, [operation for operation in plan.single if operation.name in after])
        return self._collective(values, plan.collective if _parallel(statement) == [statement] else [])

    def _fixed(self, values: list[Value], operations: Sequence[Operation]) -> list[Value]:
        """Values that an operation makes by itself: a date, a calculation."""
        made: list[Value] = []
        for operation in operations:
            if operation.name == "date":
                made.append(date(self.shop, operation))
            elif operation.name == "calculate":
                made.append(calculate(self.shop, operation))
            elif operation.name == "arithmetic":
                table = next((value for value in values if value.kind in {"table", "file"}), None)
                made.append(arithmetic(self.shop, operation, table))
        if made and any(operation.name in {"date", "calculate", "arithmetic"} for operation in operations):
            literal = [value for value in values if value.label == "text" and value.source == ""]
            return [*literal, *made]
        return values

    def _each(self, values: list[Value], operations: Sequence[Operation]) -> list[Value]:
        for operation in operations:
            done = [self._one(value, operation) for value in values]
            values = [value for value in done if value is not None]
        return values

    def _one(self, value: Value, operation: Operation) -> Value | None:
        shop = self.shop
        name = operation.name
        if name == "filter":
            return self._filter(value, operation)
        if name == "model":
            return model_step(shop, value, operation)
        if name == "component":
            return component_step(shop, value, operation)
        if name == "pick":
            return pick(shop, value, operation)
        if name == "json":
            return to_data(shop, value)
        if name == "dedupe":
            return (
                table_steps.distinct_rows(shop, value)
                if table_steps.is_tabular(value)
                else text_steps.distinct(shop, value, operation)
            )
        if name in {"sort", "superlative", "frequent", "limit", "columns"}:
            return self._ordered(value, operation)
        step = text_steps.STEPS.get(name)
        return step(shop, value, operation) if step is not None else value

    def _filter(self, value: Value, operation: Operation) -> Value:
        condition, keep = operation.slots["condition"], bool(operation.slots["keep"])
        self.shop.last_filter = (value, operation)
        if value.kind == "file" and (condition.column or "tabular" in value.tags):
            value = self._table(value)
        if table_steps.is_tabular(value):
            found = table_steps.filter_rows(self.shop, value, condition, keep=keep)
            if found is None:
                self.shop.lacking.append(f"column:{condition.value}")
                return value
            return found
        if value.kind in {"record", "data"}:
            return value
        if condition.measure == "count" and condition.unit == "u.word":
            condition = replace(condition, measure="length")
        return text_steps.filter_items(self.shop, value, condition, keep=keep)

    def _table(self, value: Value) -> Value:
        return as_table(self.shop, value)

    def _ordered(self, value: Value, operation: Operation) -> Value | None:
        shop, name = self.shop, operation.name
        if value.kind in {"number", "record"}:
            return value
        if value.kind == "file" and (name == "columns" or "tabular" in value.tags or operation.slots.get("by")):
            value = self._table(value)
        if name == "frequent":
            return table_steps.frequent(shop, value, operation, descending=not operation.slots.get("rare"))
        if name == "columns":
            return self._columns(value, operation.slots["columns"], operation, only=not operation.slots.get("beside"))
        if name == "limit":
            step = table_steps.limit_rows if value.kind == "table" else text_steps.limit
            return step(shop, value, operation)
        if name == "sort":
            return self._sorted(value, operation)
        return self._top(value, operation)

    def _sorted(self, value: Value, operation: Operation) -> Value:
        descending = operation.slots.get("descending")
        by = str(operation.slots.get("by") or "")
        if value.kind == "table":
            if value.single and not by:
                by = value.single
            return table_steps.sort_rows(self.shop, value, by, descending=descending)
        return text_steps.sort(self.shop, value, descending=bool(descending))

    def _top(self, value: Value, operation: Operation) -> Value:
        word = self._order_word(operation)
        descending = not operation.slots.get("least")
        if value.kind == "table" and not value.single and not operation.slots.get("by"):
            operation = self._with_column(value, operation)
        if value.kind == "table" and not value.single:
            return table_steps.top_rows(self.shop, value, operation, word, descending=descending)
        count = operation.slots.get("n")
        return text_steps.by_length(self.shop, value, int(count) if count else None, descending=descending)

    def _with_column(self, value: Value, operation: Operation) -> Operation:
        """`the most files`: the word behind is a column of this table, whatever else it can mean."""
        at = operation.end
        word = self.shop.reading.tokens[at].word if at < len(self.shop.reading) else ""
        column = known_column(word, value.columns or ()) if word else ""
        if not column or column == (value.columns or ("",))[0]:
            return operation
        self.shop.reading.claim(at, at + 1)
        return replace(operation, slots={**operation.slots, "by": column})

    def _order_word(self, operation: Operation) -> str:
        mark = self.shop.reading.find(operation.start, operation.end, "o.most", "o.least")
        return self.shop.reading.source(mark.start, mark.end) if mark is not None else ""

    def _columns(self, value: Value, words: Sequence[str], operation: Operation, *, only: bool) -> Value:
        if value.kind in {"record", "data"}:
            if value.source == "s.form":
                return value
            members = ", ".join(f"{jmes.member(word)}: {jmes.member(word)}" for word in words)
            node = select(self.shop, value, f"[*].{{{members}}}", "Choose fields")
            return self.shop.keep(value.like(kind="data", node=node, port="data"))
        if value.kind != "table":
            return value
        found = table_steps.columns(self.shop, value, words, only=only)
        return found or value

    def _summaries(self, values: list[Value], plan: _Plan) -> list[Value]:
        if not plan.summaries:
            return values if plan.by is None else self._grouped_without_figure(values, plan.by)
        return [made for value in values for made in self._summary(value, plan)]

    def _grouped_without_figure(self, values: list[Value], by: list[str]) -> list[Value]:
        return [table_steps.summarise(self.shop, self._table(value), [Operation("count")], by) for value in values]

    def _summary(self, value: Value, plan: _Plan) -> list[Value]:
        shop = self.shop
        if value.kind == "items" and plan.by:
            return [self._by_domain(value) if plan.by[0].startswith("dom") else text_steps.tally(shop, value)]
        if any(operation.name == "tally" for operation in plan.summaries) and value.kind != "table":
            return [text_steps.tally(shop, value)]
        tabular = plan.by is not None or any(operation.slots.get("column") for operation in plan.summaries)
        if value.kind == "file" and (tabular or "tabular" in value.tags):
            value = self._table(value)
        if value.kind == "table" and not (value.single and not tabular):
            return [self._table_summary(value, plan)]
        made: list[Value] = []
        for operation in plan.summaries:
            if operation.name == "count":
                made.append(table_steps.count_of(shop, value))
            else:
                made.append(
                    table_steps.figure_of(shop, value, table_steps.function_of(str(operation.slots.get("function"))))
                )
        return made

    def _table_summary(self, value: Value, plan: _Plan) -> Value:
        by = plan.by
        if by == []:
            column = self.shop.last_column or value.last_column
            by = [column] if column else []
        if by is None and value.by and value.before is not None and value.query is not None:
            if all(one.name == "count" for one in plan.summaries):
                return value
            value, by = value.before, list(value.by)
        if not by and all(one.name == "count" for one in plan.summaries):
            return table_steps.count_of(self.shop, value)
        aggregates = [
            replace(one, slots={**one.slots, "function": table_steps.function_of(str(one.slots.get("function")))})
            for one in plan.summaries
        ]
        return table_steps.summarise(self.shop, value, aggregates, by or [])

    def _by_domain(self, value: Value) -> Value:
        return text_steps.tally(self.shop, derive(self.shop, value, "t.domain"))

    # what is done with all results of a clause together

    def _collective(self, values: list[Value], operations: Sequence[Operation]) -> list[Value]:
        for operation in operations:
            values = self._together(values, operation)
        return values

    def _together(self, values: list[Value], operation: Operation) -> list[Value]:
        shop, name = self.shop, operation.name
        if name == "say" and not values and shop.pending_wait is not None:
            values = [wait_first(shop)]
        if name == "say":
            return [say(shop, values[0] if values else None, operation)]
        if name == "which":
            return [self._which(values[0])] if values else []
        if name == "wait":
            return self._wait(values, operation)
        if name == "heading":
            self.title = str(operation.slots["text"])
            return values
        if name in {"save", "show", "send"} and self.unspecified:
            values = self._with_loose(values)
        values = values or self._default()
        if name == "combine":
            return self._combine(values, operation)
        if name == "join":
            return self._join(values, operation)
        if name in {"save", "show", "send"}:
            self._output(values, operation)
        return values

    def _default(self) -> list[Value]:
        return loose(self.shop) or [default_source(self.shop, None)]

    def _combine(self, values: list[Value], operation: Operation) -> list[Value]:
        values = values if len(values) > 1 else self._with_loose(values)
        title, self.title = self.title, ""
        if operation.slots.get("report") and len(values) > 1:
            return [outputs.report(self.shop, values, title=title)]
        return [outputs.combine(self.shop, values, title=title)]

    def _with_loose(self, values: list[Value]) -> list[Value]:
        """All results nothing uses yet, when only one was named to be combined."""
        others = loose(self.shop)
        return others if len(others) > 1 else values

    def _join(self, values: list[Value], operation: Operation) -> list[Value]:
        if len(values) > 1:
            return [outputs.combine(self.shop, values, separator=str(operation.slots.get("separator", "\n\n")))]
        return [text_steps.join(self.shop, value, operation) for value in values]

    def _wait(self, values: list[Value], operation: Operation) -> list[Value]:
        """Wait before going on; of several values the last waits, the others are ready by then."""
        shop = self.shop
        seconds = operation.slots["seconds"]
        if not values:
            shop.pending_wait = seconds
            return []
        return [*values[:-1], wait_on(shop, values[-1], seconds)]

    def _which(self, value: Value) -> Value:
        """`say which ones`: the names of the rows, or the items themselves."""
        shop = self.shop
        if value.kind == "table":
            column = (
                "name"
                if value.columns and "name" in value.columns
                else value.single or (value.columns[0] if value.columns else "name")
            )
            node = select(shop, value, f"join(', ', [].to_string({jmes.member(column)}))", "Name them")
        else:
            node = (
                select(shop, value, "join(', ', map(&to_string(@), @))", "Name them")
                if value.kind == "items"
                else select(shop, value, "@", "Give it")
            )
        tags = value.tags | {"names", "list"}
        return shop.keep(Value("text", node, "text", tags, "found", of_branch=True))

    def _output(self, values: list[Value], operation: Operation) -> None:
        shop = self.shop
        if operation.name == "show":
            outputs.show(shop, values)
        elif operation.name == "send":
            outputs.send(shop, values, operation)
        else:
            title, self.title = self.title, ""
            if title and not operation.slots.get("called"):
                values = [outputs.combine(shop, values, title=title)]
            outputs.save(shop, values, operation)

    # choices

    def choice(self, choice: Choice) -> None:
        """A choice on what its condition speaks of; its joined result becomes current."""
        value = self._chosen(choice)
        self.shop.current = choose(self.shop, choice, value, self._body)

    def _chosen(self, choice: Choice) -> Value:
        shop, first = self.shop, choice.cases[0]
        condition = first.condition
        if first.focus is not None:
            values, operations = focus(shop, first.focus)
            values = (
                self._each(values, [operation for operation in operations if operation.name == "model"])
                if operations
                else values
            )
            if values:
                return self._fit(values[0], choice)
        if shop.current:
            return self._fit(shop.current[0], choice)
        comparing = condition.operator in {"over", "under", "least", "most", "between", "is"}
        return default_source(shop, None, record=bool(condition.column) and comparing and not condition.measure)

    def _fit(self, value: Value, choice: Choice) -> Value:
        """The value to look at: rows rather than their counts, the form for a field nobody else has."""
        condition = choice.cases[0].condition
        if (
            condition.column
            and value.kind == "text"
            and value.source == "s.text"
            and condition.operator in {"over", "under", "least", "most"}
            and condition.measure == ""
        ):
            form = default_source(self.shop, None, record=True)
            return form
        if value.kind == "table" and condition.measure == "" and value.query is not None and value.query.aggregated:
            rows = [one for one in self.shop.values if one.kind == "table" and not (one.query and one.query.aggregated)]
            return rows[-1] if rows and condition.quantifier else value
        if value.kind == "file" and "tabular" in value.tags:
            return self._table(value)
        return value

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
        """Show what nothing has used, unless it is only a source."""
        shop = self.shop
        wanted = [value for value in shop.values if value.wanted and not shop.outputs]
        left = list(
            dict.fromkeys([*wanted, *(value for value in loose(shop) if value.source == "" or not shop.outputs)])
        )
        left = [value for value in left if value.node not in shop.outputs]
        if not left and not shop.outputs:
            left = [value for value in shop.current if not value.consumed]
        if left:
            outputs.show(shop, left)
        if any(value.source == "s.file" for value in shop.values):
            for mark in shop.reading.find_all(0, len(shop.reading), "f."):
                shop.reading.claim(mark.start, mark.end)
        for node in _unconnected(shop):
            shop.draft.remove(node)


def _asks_for(statement: Statement) -> bool:
    """Whether a clause only asks to see what it names."""
    return all(operation.name in {"source", "columns", "filter", "sort", "limit"} for operation in statement.operations)


_AFTER_SUMMARY = frozenset({"superlative", "sort", "limit", "columns", "number", "bullets", "prefix"})


def _plan(operations: Sequence[Operation]) -> _Plan:
    plan = _Plan()
    for operation in operations:
        if operation.name == "group":
            plan.by = [*(plan.by or []), *operation.slots["by"]]
        elif operation.name in _SUMMARIES:
            plan.summaries.append(operation)
        elif operation.name in _COLLECTIVE:
            plan.collective.append(operation)
        elif operation.name not in {"date", "calculate", "arithmetic", "literal", "unsupported"}:
            plan.single.append(operation)
    return plan


def _needs_input(plan: _Plan) -> bool:
    return plan.by is not None or any(operation.name in {"join"} for operation in plan.collective)


def _parallel(statement: Statement) -> list[Statement]:
    """A clause cut where each of several things has a condition of its own: `lines with A and lines with B`."""
    filters = [operation for operation in statement.operations if operation.name == "filter"]
    derivations = [operation for operation in statement.operations if operation.name == "derive"]
    if len(filters) < 2 or len(derivations) != len(filters):
        return [statement]
    shared = tuple(
        operation for operation in statement.operations if operation.name not in {"filter", "derive"} | _COLLECTIVE
    )
    pairs = zip(sorted(derivations, key=_start), sorted(filters, key=_start), strict=True)
    return [replace(statement, operations=(*shared, one, other)) for one, other in pairs]


def shop_waits(shop: Workshop, values: list[Value]) -> bool:
    """Whether a wait asked for before anything was there can be done now."""
    return shop.pending_wait is not None and bool(values)


def _fitting(shop: Workshop, values: list[Value], plan: _Plan) -> list[Value]:
    """The list or table meant when figures are at hand and rows are asked for: `count them and give me their names`."""
    rows = any(operation.name in _ROW_WORK for operation in plan.single) or plan.by is not None
    if not rows or not values or any(value.kind != "number" for value in values):
        return values
    several = [value for value in shop.values if value.kind in {"items", "table", "file"}]
    return several[-1:] or values


_ROW_WORK = frozenset({"columns", "sort", "superlative", "limit", "dedupe", "filter", "frequent"})


def _unconnected(shop: Workshop) -> list[str]:
    """Sources that nothing reads: what they stand for reaches its step through the form."""
    connected = {end for edge in shop.draft.edges for end in (edge.source, edge.target)}
    known = {node.id for node in shop.draft.base.nodes}
    return [
        node for node in shop.draft.nodes if node not in connected and node not in known and len(shop.draft.nodes) > 1
    ]


def _start(operation: Operation) -> int:
    return operation.start
