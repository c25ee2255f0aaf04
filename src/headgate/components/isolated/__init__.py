"""Processing of external content in processes that can be killed: `calls` starts it, `functions` runs there."""

from typing import Final

_DOCUMENTS: Final = "headgate.components.isolated.documents"
_MODULE: Final = "headgate.components.isolated.functions"
_FORMATS: Final = "headgate.components.isolated.formats"
DOCUMENT: Final = f"{_DOCUMENTS}:document"
PAGE: Final = f"{_DOCUMENTS}:page"
RECOGNISED: Final = f"{_DOCUMENTS}:recognised"
PICTURE: Final = f"{_DOCUMENTS}:picture"
MARKS: Final = f"{_DOCUMENTS}:marks"
TABLE_QUERY: Final = f"{_MODULE}:table_query"
SELECTION: Final = f"{_MODULE}:selection"
FIELD: Final = f"{_MODULE}:field"
MATCHES: Final = f"{_MODULE}:matches"
CONDITION: Final = f"{_MODULE}:condition"
SCHEMA_PROBLEMS: Final = f"{_MODULE}:schema_problems"
SHEET: Final = f"{_FORMATS}:sheet"
FEED: Final = f"{_FORMATS}:feed"
SITEMAP: Final = f"{_FORMATS}:sitemap"
HTML_ELEMENTS: Final = f"{_FORMATS}:html_elements"
XML_VALUES: Final = f"{_FORMATS}:xml_values"
XML_DATA: Final = f"{_FORMATS}:xml_data"
ARCHIVE_ENTRIES: Final = f"{_FORMATS}:archive_entries"
ARCHIVE_MEMBERS: Final = f"{_FORMATS}:archive_members"
CALENDAR_EVENTS: Final = f"{_FORMATS}:calendar_events"
IMAGE: Final = f"{_FORMATS}:image"
NOTIFICATION: Final = "headgate.components.isolated.notifications:notification"
MAILS: Final = f"{_FORMATS}:mails"
CHART: Final = f"{_FORMATS}:chart"
API_DESCRIPTION: Final = "headgate.components.isolated.descriptions:api_description"
CODE_SECTIONS: Final = "headgate.components.isolated.code:code_sections"
DATABASE_FILE: Final = "headgate.components.isolated.databases:database_file"
FUNCTIONS: Final = (
    *(DOCUMENT, PAGE, RECOGNISED, PICTURE, MARKS, TABLE_QUERY, SELECTION, FIELD, MATCHES, CONDITION, SCHEMA_PROBLEMS),
    *(
        SHEET,
        FEED,
        SITEMAP,
        HTML_ELEMENTS,
        XML_VALUES,
        XML_DATA,
        ARCHIVE_ENTRIES,
        ARCHIVE_MEMBERS,
        CALENDAR_EVENTS,
        IMAGE,
        CHART,
        MAILS,
        NOTIFICATION,
        API_DESCRIPTION,
        DATABASE_FILE,
        CODE_SECTIONS,
    ),
)
"""All functions, as `RunContext.isolated` expects them."""
