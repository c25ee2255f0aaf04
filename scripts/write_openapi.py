"""Writes build/openapi.json, from which the page's types are generated."""

from pathlib import Path

import orjson

from headgate.entrypoints.http.app import create_app
from headgate.foundation.settings import Settings

if __name__ == "__main__":
    target = Path(__file__).parents[1] / "build" / "openapi.json"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(orjson.dumps(create_app(Settings()).openapi(), option=orjson.OPT_INDENT_2))
