"""HTTP client for everything that flows fetch or send: no private addresses; limited sizes, times and redirects."""

from headgate.foundation.guarded_http.addresses import AddressPolicy
from headgate.foundation.guarded_http.answer import HttpAnswer
from headgate.foundation.guarded_http.client import GuardedHttp
from headgate.foundation.guarded_http.credential import Credential
from headgate.foundation.guarded_http.errors import (
    AddressRefused,
    AnswerTooLarge,
    BadRequest,
    BadUrl,
    BrokenAnswer,
    CertificateRefused,
    ConnectFailed,
    ConnectionDropped,
    HeaderRefused,
    HostNotFound,
    HostRefused,
    ProxyFailed,
    RequestTimedOut,
    TooManyRedirects,
)
from headgate.foundation.guarded_http.local_proxy import LocalProxy
from headgate.foundation.guarded_http.resolving import Resolver, resolve_checked, system_resolver
from headgate.foundation.guarded_http.retries import PAUSES, spread
from headgate.foundation.guarded_http.slots import RequestSlots
from headgate.foundation.guarded_http.targets import parse_target, shown_url

__all__ = [
    "PAUSES",
    "AddressPolicy",
    "AddressRefused",
    "AnswerTooLarge",
    "BadRequest",
    "BadUrl",
    "BrokenAnswer",
    "CertificateRefused",
    "ConnectFailed",
    "ConnectionDropped",
    "Credential",
    "GuardedHttp",
    "HeaderRefused",
    "HostNotFound",
    "HostRefused",
    "HttpAnswer",
    "LocalProxy",
    "ProxyFailed",
    "RequestSlots",
    "RequestTimedOut",
    "Resolver",
    "TooManyRedirects",
    "parse_target",
    "resolve_checked",
    "shown_url",
    "spread",
    "system_resolver",
]
