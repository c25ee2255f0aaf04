"""A process that makes calls with the access token of a connection: `python -m tests.support.refreshing_process`."""

import asyncio
import json
import sys

from headgate.entrypoints.compose import open_parts
from headgate.features.access.principal import LOCAL
from headgate.foundation.settings import Settings


async def call(settings: Settings, name: str, times: int) -> list[int]:
    """Call the connection's API several times at once; return the statuses."""
    async with open_parts(settings) as parts:
        connection = await parts.services.opener.open(
            tenant_id=LOCAL.tenant_id,
            space_id=LOCAL.space_id,
            user_id=LOCAL.user_id,
            name=name,
            audit=parts.secret_reads.of(LOCAL, "connection"),
        )
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        url = connection.url("/me")
        answers = await asyncio.gather(*(connection.http.request("GET", url) for _ in range(times)))
    return [answer.status for answer in answers]


if __name__ == "__main__":
    statuses = asyncio.run(call(Settings.model_validate_json(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
    sys.stdout.write(json.dumps(statuses))
