"""Reads of databases in files, each in a separate process: a file from outside may be anything."""

import base64

from pydantic import JsonValue

from headgate.components.isolated.results import Arguments, isolated, packed
from headgate.components.sql.databases import opened_content
from headgate.components.sql.statements import run_query, schema_rows


@isolated
def database_file(arguments: Arguments) -> JsonValue:
    """Run one SELECT in a file, or list its tables: `{"content", "sql", "parameters", "most_rows", "match", ...}`.

    Without `sql` the tables are listed. Returns a table.
    """
    content = base64.b64decode(arguments["content"])
    with opened_content(content, seconds=arguments["seconds"], subject=arguments["subject"]) as database:
        if arguments["sql"] is None:
            return packed(schema_rows(database, arguments["match"]))
        return packed(run_query(database, arguments["sql"], arguments["parameters"], most_rows=arguments["most_rows"]))
