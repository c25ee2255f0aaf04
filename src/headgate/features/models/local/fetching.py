"""Downloads of local models in a server: started, monitored and cancelled over the API. They can be resumed."""

import threading
from dataclasses import dataclass, field

from headgate.features.models.local.models import LocalModels
from headgate.features.models.local.pull import pull
from headgate.features.models.local.sources import sources_of
from headgate.features.models.local.store import LocalModel, list_local
from headgate.features.models.local.weights import find_weights
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger
from headgate.foundation.settings import OutgoingSettings

log = get_logger(__name__)
_JOIN_SECONDS = 5.0


class FetchCancelled(Exception):
    """Stops the thread of a fetch."""


@dataclass(slots=True)
class Fetch:
    """The state of a download. Its thread updates it; readers see the last state."""

    name: str
    done: int = 0
    detail: str = ""
    remedy: str = ""
    failed: bool = False
    running: bool = True
    cancelled: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)


class LocalFetches:
    """The downloads of one process. A file lock excludes other processes on the same folder.

    Args:
        local: The folder of local models.
        outgoing: The operator's proxy.
        mirror: Address of the operator's folder of weights; empty for their makers' repository.
    """

    def __init__(self, local: LocalModels, outgoing: OutgoingSettings, mirror: str = "") -> None:
        self._local = local
        self._outgoing = outgoing
        self._mirror = mirror
        self._fetches: dict[str, Fetch] = {}
        self._starting = threading.Lock()

    def start(self, name: str) -> Fetch:
        """Download a model in the background, or resume it; no effect when it is in progress.

        Raises `LocalModelMissing` for a name that is not published.
        """
        find_weights(name)
        with self._starting:
            fetch = self._fetches.get(name)
            if fetch is not None and fetch.running:
                return fetch
            fetch = self._fetches[name] = Fetch(name)
            threading.Thread(target=self._work, args=(fetch,), name=f"fetch-{name}", daemon=True).start()
        return fetch

    def cancel(self, name: str) -> bool:
        """Stop a fetch; what is here stays, and the next one continues from there. Returns whether one was running."""
        fetch = self._fetches.get(name)
        if fetch is None or not fetch.running:
            return False
        fetch.detail = "Stopping."
        fetch.cancelled.set()
        return True

    def find(self, name: str) -> Fetch | None:
        """Return the last fetch of a model in this process."""
        return self._fetches.get(name)

    def list_models(self) -> list[LocalModel]:
        """List models on this machine, and those that can be downloaded."""
        return list_local(self._local.models_dir)

    def close(self) -> None:
        """Stop every fetch. Call when the program ends."""
        for fetch in self._fetches.values():
            fetch.cancelled.set()
        for fetch in self._fetches.values():
            fetch.ended.wait(_JOIN_SECONDS)

    def _work(self, fetch: Fetch) -> None:
        def progress(done: int, _total: int) -> None:
            fetch.done = done
            if fetch.cancelled.is_set():
                raise FetchCancelled

        def report(line: str) -> None:
            fetch.detail = line

        try:
            sources = sources_of(self._mirror, self._outgoing)
            pull(fetch.name, self._local.models_dir, progress=progress, report=report, sources=sources)
        except FetchCancelled:
            fetch.detail = "Stopped. The downloaded part is kept."
        except HeadgateError as error:
            fetch.failed, fetch.detail, fetch.remedy = True, error.detail, error.remedy or ""
        except Exception:
            log.exception("local_fetch_failed", model=fetch.name)
            fetch.failed, fetch.detail = True, "The download stopped unexpectedly; see the server log for the reason."
            fetch.remedy = "Start it again: it continues where it was."
        finally:
            fetch.running = False
            fetch.ended.set()
