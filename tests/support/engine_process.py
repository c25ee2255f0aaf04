"""A process of its own that carries one run out, to be killed: `python -m tests.support.engine_process <JSON>`.

The JSON names `folder`, `url`, `version` (tenant, flow, number) and `text`, or no `version` to only recover; `models`
is where a model provider answers. Prints the run's id once it is started and then stays until it is killed or told on
standard input to end.
"""

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from headgate.features.runs.engine.build import build_engine
from headgate.features.runs.engine.embedded import EmbeddedBackend
from headgate.features.runs.step_state import FlowState
from headgate.features.runs.terms import Stops
from headgate.features.runs.transitions import RunKey
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.keyring import new_ring
from headgate.foundation.log import configure
from headgate.foundation.settings import EngineSettings, LogSettings
from tests.support.agents import AGENT_COMPONENTS, ServerModels
from tests.support.databases import make_settings
from tests.support.engine import make_services, new_run, on_disk


async def work(order: dict[str, Any]) -> None:
    """Start what was ordered, then wait for a line."""
    configure(LogSettings(level="error"))
    settings = make_settings(Path(order["folder"]), order["url"])
    database = Database(settings)
    engine_settings = EngineSettings(recover_on_start="version" not in order, lease_seconds=order.get("lease", 30))
    services = make_services(
        database, components=AGENT_COMPONENTS, engine=engine_settings, files=on_disk(database, settings)
    )
    services = replace(services, flow_state=FlowState(database, SecretBox(new_ring(settings))))
    if "models" in order:
        services = replace(services, chat_models=ServerModels(order["models"]))
    engine = build_engine(settings, database, services)
    await engine.open()
    if "version" in order:
        tenant, flow, number = order["version"]
        stops = Stops(tuple(order["stop_before"])) if "stop_before" in order else None
        request = new_run(RunKey("", tenant, flow, number), order["text"], stops=stops)
        await engine.start(request)
        sys.stdout.write(request.key.run_id + "\n")
    else:
        sys.stdout.write("open\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)
    if isinstance(engine, EmbeddedBackend):
        await engine.close(grace_seconds=0.05)
    await database.close()


if __name__ == "__main__":
    asyncio.run(work(json.loads(sys.argv[1])))
