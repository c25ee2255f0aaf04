"""Parses a URL once, strictly. The checked URL is the one that is connected to: there is no second parser."""

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import quote, urljoin

from headgate.foundation.guarded_http.errors import BadUrl

MAX_URL_LENGTH = 8192
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?(#.*)?"
)
_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\[\]:]*)(:(?P<port>[0-9]{0,5}))?", re.ASCII)
_HOST = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060\ufeff]")
_DEFAULT_PORTS = {"http": 80, "https": 443}
# The characters that RFC 3986 allows in a path or query; `%` preserves existing escapes.
_PATH_SAFE = "/%:@!$&'()*+,;=~"
_QUERY_SAFE = _PATH_SAFE + "?[]"


@dataclass(frozen=True, slots=True)
class Target:
    """A parsed URL."""

    scheme: str
    """`http` or `https`."""
    host: str
    """A name in ASCII and lower case, or an IP address in canonical form, IPv6 without brackets."""
    port: int
    path: str
    """Path and query as sent; begins with `/`."""

    @property
    def authority(self) -> str:
        """Return host and port as in the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Return scheme, host and port: the part that messages may name."""
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        """Return the complete URL."""
        return self.origin + self.path

    @property
    def address(self) -> IPv4Address | IPv6Address | None:
        """Return the IP address when the host is one."""
        return _address_of(self.host)

    def keeps_credentials(self, target: "Target") -> bool:
        """Whether credentials for this server may be sent to the other one: same origin, or its https equivalent."""
        if target.host != self.host:
            return False
        upgraded = (self.scheme, self.port, target.scheme, target.port) == ("http", 80, "https", 443)
        return upgraded or (target.scheme, target.port) == (self.scheme, self.port)

    def follow(self, location: str) -> "Target":
        """Return the target of a `Location` header, parsed as strictly as the first URL."""
        return parse_target(urljoin(self.url, location.strip()))


def parse_target(url: str) -> Target:
    """Parse a URL. Raises `BadUrl` with the reason; the message contains neither path nor query."""
    text = url.strip()
    if len(text) > MAX_URL_LENGTH:
        raise BadUrl(f"The URL is longer than {MAX_URL_LENGTH} characters.")
    match = _URL.fullmatch(text)
    if match is None:
        raise BadUrl("This is not a URL.", remedy="Write it in full, for example https://example.org/page.")
    scheme = match["scheme"].lower()
    if scheme not in _DEFAULT_PORTS:
        raise BadUrl(f"URLs with the scheme '{scheme}:' are not supported.", remedy="Use http: or https:.")
    host, port = _read_authority(match["authority"], scheme)
    try:
        path = quote(match["path"] or "/", safe=_PATH_SAFE) + quote(match["query"] or "", safe=_QUERY_SAFE)
    except UnicodeEncodeError as error:
        raise BadUrl("The URL is not valid Unicode.") from error
    return Target(scheme=scheme, host=host, port=port, path=path)


def shown_url(url: str) -> str:
    """Return a URL suitable for display: the server, and whether more follows. Raises `BadUrl`.

    Paths and queries are omitted: those of webhooks often are the secret.
    """
    target = parse_target(url)
    return target.origin + ("/..." if len(target.path) > 1 else "/")


def _read_authority(authority: str, scheme: str) -> tuple[str, int]:
    if "@" in authority:
        raise BadUrl(
            "The URL contains a user name or password before '@'.",
            remedy="Send it as an Authorization header from a variable instead.",
        )
    if _CONTROL.search(authority) or "\\" in authority or "%" in authority:
        raise BadUrl("The host name contains an invalid character.")
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        raise BadUrl("The part between '//' and the path is not a host and a port.")
    port = int(match["port"] or _DEFAULT_PORTS[scheme])
    if not 1 <= port <= 65535:
        raise BadUrl(f"{port} is not a port.", remedy="Ports are from 1 to 65535.")
    return _read_host(match["host"]), port


def _read_host(host: str) -> str:
    if host.startswith("["):
        try:
            return str(IPv6Address(host[1:-1]))
        except AddressValueError as error:
            raise BadUrl("The host in brackets is not an IPv6 address.") from error
    name = host.lower() if host.isascii() else _to_ascii(host)
    if not name:
        raise BadUrl("The URL has no host.")
    if name.endswith("."):
        raise BadUrl("The host name ends with a dot.", remedy="Remove the dot.")
    if len(name) > 253 or not _HOST.fullmatch(name):
        raise BadUrl("The host name is not valid.", remedy="Host names consist of letters, digits, hyphens and dots.")
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        return str(_ipv4_of(name))
    return name


def _to_ascii(host: str) -> str:
    """Return the ASCII form of an internationalised name (IDNA 2008 after UTS 46 mapping)."""
    import idna  # noqa: PLC0415 - a large table, needed for such names only

    try:
        return idna.encode(host, uts46=True, transitional=False).decode("ascii").lower()
    except UnicodeError as error:
        raise BadUrl("The host name contains invalid characters.") from error


def _ipv4_of(name: str) -> IPv4Address:
    """The address that a resolver reads from a number: up to four parts, decimal, octal (0..) or hexadecimal (0x..)."""
    parts = name.split(".")
    numbers = [_number_of(part) for part in parts]
    if len(numbers) > 4 or any(number > 255 for number in numbers[:-1]) or numbers[-1] >= 256 ** (5 - len(numbers)):
        raise BadUrl("The host is a number that is not an IPv4 address.")
    value = numbers[-1]
    for index, number in enumerate(numbers[:-1]):
        value += number << (8 * (3 - index))
    return IPv4Address(value)


def _number_of(part: str) -> int:
    if not _NUMBER.fullmatch(part) or len(part) > 32:
        raise BadUrl("The host is a number that is not an IPv4 address.")
    try:
        if part.startswith("0x"):
            return int(part[2:] or "0", 16)
        return int(part, 8 if part.startswith("0") and part != "0" else 10)
    except ValueError as error:
        raise BadUrl("The host is a number that is not an IPv4 address.") from error


def _address_of(host: str) -> IPv4Address | IPv6Address | None:
    for kind in (IPv4Address, IPv6Address):
        try:
            return kind(host)
        except AddressValueError:
            continue
    return None
