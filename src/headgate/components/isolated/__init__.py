"""Processing of external content in processes that can be killed: `calls` starts it, `functions` runs there."""

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
"""All functions, as `RunContext.isolated` expects them."""
