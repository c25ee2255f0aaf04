"""A process that calls a tool of an MCP server several times: `python -m tests.support.mcp_calling_process`."""

import asyncio
import json
import sys

from headgate.entrypoints.compose import open_parts
from headgate.features.access.principal import LOCAL
from headgate.foundation.settings import Settings


async def call(settings: Settings, server: str, tool: str, times: int) -> list[str]:
    """Call the tool in as many sessions at once; return the results, or the codes of errors."""
    async with open_parts(settings) as parts:
        reader = parts.services.connector.reader_of(LOCAL)

        async def one() -> str:
            connection = await parts.services.connector.connection(
                tenant_id=LOCAL.tenant_id, space_id=LOCAL.space_id, name=server, reader=reader
            )
            try:
                return str(await connection.call(tool, {}))
            finally:
                await connection.close()

        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        results = await asyncio.gather(*(one() for _ in range(times)), return_exceptions=True)
    return [f"{getattr(result, 'code', '')}{result}" for result in results]


if __name__ == "__main__":
    outcome = asyncio.run(call(Settings.model_validate_json(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])))
    sys.stdout.write(json.dumps(outcome))
