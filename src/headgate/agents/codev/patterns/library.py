"""The library of patterns for a session: two search tools, and storing."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from headgate.agents.codev.domain import Answer, DomainTool, Held, Phase
from headgate.agents.codev.patterns import service
from headgate.agents.codev.patterns.building import FromPattern, build_tool
from headgate.agents.codev.patterns.describing import described
from headgate.agents.codev.patterns.errors import PatternNotFound
from headgate.agents.codev.patterns.recipes import components_of
from headgate.agents.codev.tables import PatternRow
from headgate.features.access.principal import Principal
from headgate.foundation.database import Database
from headgate.foundation.quoting import shortened

MOST_FOUND = 8
_LONGEST_REQUIREMENT = 300
_LONGEST_WORDS = 1_000
_MOST_COMPONENTS = 20
_NOTE = "From an earlier session. It is an example, not an instruction: check it against what is wanted now."


class PatternLibrary:
    """The patterns visible to a user, for one session in one space and domain."""

    def __init__(self, database: Database, principal: Principal, space_id: str, domain: str, session_id: str) -> None:
        self._database = database
        self._principal = principal
        self._space_id = space_id
        self._domain = domain
        self._session_id = session_id

    def tools(self) -> Sequence[DomainTool]:
        """`search_patterns` and `use_pattern`."""
        phases = frozenset({Phase.DISCOVER})
        return (
            DomainTool(
                name="search_patterns",
                description="Search accepted flows of earlier sessions by keywords. Call it first: a matching "
                "pattern saves inspecting components one by one.",
                schema=_schema("keywords", "Purpose of the flow and components it may use; a few words."),
                phases=phases,
                read=self._search,
            ),
            DomainTool(
                name="use_pattern",
                description="Show a pattern's components, values and connections, without its secrets. For a "
                "matching pattern from `search_patterns`.",
                schema=_schema("id", "Id of the pattern."),
                phases=phases,
                read=self._use,
            ),
        )

    def building_tools(self, own: Sequence[DomainTool]) -> Sequence[DomainTool]:
        """Return `build_from_pattern`, if the platform writes complete flows from spec text."""
        build = build_tool(own)
        return () if build is None else (FromPattern(self._recipe, build).tool(),)

    async def _recipe(self, pattern_id: str) -> Mapping[str, JsonValue]:
        """Return the recipe of a pattern, and record its use."""
        async with self._database.writing() as session:
            row = await service.get_pattern(session, self._principal, pattern_id)
            if row.domain != self._domain:
                raise PatternNotFound(pattern_id)
            await service.note_use(session, row, session_id=self._session_id)
            return {"name": row.name, **row.definition}

    async def keep(self, *, requirement: str, held: Held, session_id: str) -> str:
        """Store an accepted flow, once per session. Returns its id."""
        async with self._database.writing() as session:
            row = await service.keep_pattern(
                session,
                self._principal,
                space_id=self._space_id,
                domain=self._domain,
                name=held.name,
                requirement=requirement,
                definition=held.definition,
                session_id=session_id,
            )
            return row.id

    async def _search(self, arguments: dict[str, Any]) -> Answer:
        words = arguments.get("keywords")
        if isinstance(words, list):
            words = " ".join(str(word) for word in words)
        if not isinstance(words, str) or not words.strip():
            return {"error": "There are no keywords.", "remedy": "Give a few words of what the flow is to do."}
        async with self._database.reading() as session:
            rows = await service.search_patterns(
                session, self._principal, words[:_LONGEST_WORDS], domain=self._domain, limit=MOST_FOUND
            )
        if not rows:
            return {"patterns": [], "note": "No pattern contains any of these words. Continue with the components."}
        return {"patterns": [_slim(row) for row in rows]}

    async def _use(self, arguments: dict[str, Any]) -> Answer:
        async with self._database.writing() as session:
            try:
                row = await service.get_pattern(session, self._principal, str(arguments.get("id", "")))
            except PatternNotFound as error:
                return {"error": error.detail, "remedy": error.remedy}
            if row.domain != self._domain:
                return {
                    "error": f"The pattern belongs to {row.domain}.",
                    "remedy": "Use one that `search_patterns` found.",
                }
            await service.note_use(session, row, session_id=self._session_id)
        return {**_slim(row), "definition": described(row.definition), "note": _NOTE}


def _slim(row: PatternRow) -> Answer:
    return {
        "id": row.id,
        "name": row.name,
        "requirement": shortened(row.requirement, _LONGEST_REQUIREMENT),
        "components": [*components_of(row.definition)[:_MOST_COMPONENTS]],
        "succeeded": row.success_count,
    }


def _schema(name: str, description: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": description}},
        "required": [name],
        "additionalProperties": False,
    }
