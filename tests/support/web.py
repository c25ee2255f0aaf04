"""The guarded client of tests of models: its connections end with their request, so nothing has to be closed."""

from functools import cache
from ssl import SSLContext

import httpx2

from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.settings import HttpSettings, OutgoingSettings
from tests.support.direct import DIRECT


def open_web(settings: HttpSettings | None = None, outgoing: OutgoingSettings = DIRECT) -> GuardedHttp:
    """One for an event loop."""
    return GuardedHttp(settings or HttpSettings(), outgoing, tls=_tls(), keep_open=0)


@cache
def _tls() -> SSLContext:
    return httpx2.create_ssl_context()
