"""Cache of read tools within a request (seed 000 ADR-MCP-018)."""

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import orjson
from pydantic import JsonValue

from headgate.toolkit.watch import Watch

MAX_CACHE_ENTRIES = 100
Result = dict[str, JsonValue]


def call_key(tool: str, arguments: Mapping[str, object]) -> str:
    """Return the key of a call: the tool with its arguments, independent of their order."""
    try:
        return f"{tool}::{orjson.dumps(dict(arguments), option=orjson.OPT_SORT_KEYS).decode()}"
    except TypeError:
        return f"{tool}::{arguments!r}"


@dataclass(slots=True)
class ReadCache:
    """LRU cache of tools that read what no edit changes: the catalog.

    Neither reads of the working flow nor refusals are cached.
    """

    most: int = MAX_CACHE_ENTRIES
    _kept: OrderedDict[str, Result] = field(default_factory=OrderedDict)
    _catalogue: object = None

    async def answer(
        self, key: str, produce: Callable[[], Awaitable[Result]], watch: Watch, *, catalogue: object = None
    ) -> Result:
        """Return the cached answer, or a new one. Errors of `produce` are raised and not cached.

        Args:
            key: The call, as `call_key` writes it.
            produce: Runs it.
            watch: Notified of hits, misses and evictions.
            catalogue: What it reads; with another one (an own component was added) everything kept is forgotten.
        """
        if catalogue is not self._catalogue:
            self._catalogue = catalogue
            self._kept.clear()
        tool = key.partition("::")[0]
        cached = self._kept.get(key)
        if cached is not None:
            self._kept.move_to_end(key)
            watch.cache_hit(tool, hashlib.sha256(key.encode()).hexdigest())
            return cached
        watch.cache_miss(tool)
        made = await produce()
        if made.get("ok"):
            self._keep(key, made, watch)
        return made

    def _keep(self, key: str, answer: Result, watch: Watch) -> None:
        self._kept[key] = answer
        if len(self._kept) > self.most:
            self._kept.popitem(last=False)
            watch.cache_evicted()

    def __len__(self) -> int:
        return len(self._kept)
