"""Checks the `Host` of requests, and the origins of changing requests."""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from headgate.foundation.errors import Forbidden
from headgate.foundation.settings import ServerSettings

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")


class HostRefused(Forbidden):
    """The request was not addressed to this server."""

    code = "host_refused"
    title = "Not allowed"


class OriginRefused(Forbidden):
    """A page of another site tried to change something."""

    code = "origin_refused"
    title = "Not allowed"


class Names:
    """The names and sites that belong to this server.

    A page on the web that points its own name here (DNS rebinding) sends that name as `Host`, so only known names are
    answered. An address is never a page's own name: the one at which a request arrived is answered too.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._this_machine_only = settings.auto_login and not settings.insecure
        self._public = settings.public_url.lower()
        self._public_at = urlsplit(self._public).netloc
        named = {*settings.allowed_hosts, urlsplit(self._public).hostname or "", settings.host.lower()}
        self._names = frozenset(named - {"", "0.0.0.0", "::"})  # noqa: S104 - not a name to be called by
        self._origins = frozenset(settings.cors_origins)

    def check_host(self, hosts: list[str], reached_at: str) -> None:
        """Raise `HostRefused` unless a request names this server, once.

        Args:
            hosts: The values of its `Host` headers.
            reached_at: The address at which its connection arrived.
        """
        name = host_name(hosts[0]) if len(hosts) == 1 else None
        if name is not None and (is_loopback(name) or self._is_known(name, reached_at)):
            return
        shown = ", ".join(hosts)[:100]
        raise HostRefused(f"This server does not serve the host name '{shown}'.", remedy=self._remedy())

    def check_origin(self, origin: str, host: str) -> None:
        """Raise `OriginRefused` unless the request comes from a page of this server or an allowed site."""
        asked = origin.lower()
        if asked in self._origins or (asked and asked == self._public):
            return
        # At the public name only its own scheme counts: what came over http may be somebody else's page.
        url = urlsplit(asked)
        own = url.scheme in {"http", "https"} and url.netloc == host.lower()
        if not own or (self._public and url.netloc == self._public_at):
            raise OriginRefused(
                "Pages of another site are not allowed to make changes here.",
                remedy="The operator lists allowed sites in HEADGATE_SERVER__CORS_ORIGINS.",
            )

    def _is_known(self, name: str, reached_at: str) -> bool:
        return not self._this_machine_only and (name in self._names or _same_address(name, reached_at))

    def _remedy(self) -> str:
        if self._this_machine_only:
            return "Open it as http://127.0.0.1."
        address = f"Open it as {self._public}. " if self._public else ""
        return f"{address}The operator adds other names in HEADGATE_SERVER__ALLOWED_HOSTS."


def host_name(host: str) -> str | None:
    """Return the name or address in a `Host` header, without port and brackets; None when it is neither."""
    match = _HOST.fullmatch(host)
    return match["name"].strip("[]").rstrip(".").lower() if match else None


def is_loopback(name: str) -> bool:
    """Whether a name or address is this machine's own."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _same_address(name: str, reached_at: str) -> bool:
    try:
        return ip_address(name) == ip_address(reached_at.removeprefix("::ffff:"))
    except ValueError:
        return False
