"""Exposure checks: what a server refuses to start with, and what it warns about."""

from urllib.parse import urlsplit

from headgate.entrypoints.http.hosts import is_loopback
from headgate.foundation.errors import Invalid
from headgate.foundation.settings import ServerSettings


def refuse_exposure(server: ServerSettings) -> None:
    """Raise `Invalid` when others could act as the local user, or intercept sign-ins."""
    if is_loopback(server.host):
        return
    if server.auto_login:
        if not server.insecure:
            raise Invalid(
                f"With auto-login, everyone who can reach {server.host} would be the local user.",
                remedy="Listen on 127.0.0.1, or use --insecure if only you can use the network.",
            )
        return
    if not server.public_url:
        raise Invalid(
            f"With sign-in at {server.host}, the server must know its public URL.",
            remedy="Set HEADGATE_SERVER__PUBLIC_URL, such as https://headgate.example.org.",
        )
    if _is_plain(server) and not server.insecure:
        raise Invalid(
            f"At {server.public_url} passwords and cookies would be sent unencrypted.",
            remedy="Put a proxy with TLS before it and set HEADGATE_SERVER__PUBLIC_URL to its https address, or say "
            "--insecure when the network is yours alone.",
        )


def exposures(server: ServerSettings) -> list[str]:
    """Return unnecessary exposures, one sentence each."""
    sentences = []
    if server.auto_login and not is_loopback(server.host):
        sentences.append(f"No sign-in: everyone who can reach {server.host} has full access.")
    if not server.auto_login and _is_plain(server):
        sentences.append(f"Passwords and cookies are sent unencrypted to {server.public_url}.")
    if not server.auto_login and server.public_url.startswith("https:") and not server.trusted_proxies:
        sentences.append(
            "All requests seem to come from the proxy, in limits and in the audit log: "
            "name it in HEADGATE_SERVER__TRUSTED_PROXIES."
        )
    if server.cors_origins:
        sentences.append(f"Pages from {', '.join(server.cors_origins)} can call the API with a key.")
    return sentences


def _is_plain(server: ServerSettings) -> bool:
    """Whether users open an http address on a machine other than their own."""
    public = urlsplit(server.public_url)
    return public.scheme == "http" and not is_loopback(public.hostname or "")
