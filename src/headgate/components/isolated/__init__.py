"""Work on content from outside in processes that can be killed: `calls` asks for it, `functions` does it there."""

from typing import Final

_MODULE: Final = "headgate.components.isolated.functions"
DOCUMENT: Final = f"{_MODULE}:document"
PAGE: Final = f"{_MODULE}:page"
TABLE_QUERY: Final = f"{_MODULE}:table_query"
SELECTION: Final = f"{_MODULE}:selection"
FIELD: Final = f"{_MODULE}:field"
MATCHES: Final = f"{_MODULE}:matches"
CONDITION: Final = f"{_MODULE}:condition"
SCHEMA_PROBLEMS: Final = f"{_MODULE}:schema_problems"
FUNCTIONS: Final = (DOCUMENT, PAGE, TABLE_QUERY, SELECTION, FIELD, MATCHES, CONDITION, SCHEMA_PROBLEMS)
"""Every function there is, as `RunContext.isolated` takes it."""
