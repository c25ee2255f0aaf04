"""The one error tree. Slices subclass it; each entry point renders it once.

HeadgateError
├── Invalid          422  the input is well formed but wrong
├── Unauthenticated  401  who is asking is unknown
├── Forbidden        403  the asker may see it, not do it
├── NotFound         404  it does not exist for the asker
├── Conflict         409  it changed meanwhile, or its state forbids the request
├── TooLarge         413  over a documented limit
├── RateLimited      429  too many requests
├── Unavailable      503  a part Headgate needs is missing, full or locked
│   └── DatabaseUnavailable 503  the database is locked, full, busy or closed
│       └── DatabaseAway 503  the database server cannot be reached
├── UpstreamFailed   502  a model provider or web server outside failed
└── Cancelled        499  the run or request was stopped by its owner
"""

from typing import ClassVar, TypeAlias

# pydantic has the same type; importing it would double the start-up time of the command line
JsonValue: TypeAlias = list["JsonValue"] | dict[str, "JsonValue"] | str | bool | int | float | None

PROBLEM_TYPE_BASE = "https://headgate.dev/problems/"


class HeadgateError(Exception):
    """An error with a stable code, a user-facing message and a remedy.

    The title of a class with a code is its code in words, where it has no other.

    Args:
        detail: What happened, naming the affected object. Never contains a secret. Default: the text of the class;
            where that has a place `{}`, only what belongs there, such as a name.
        remedy: What the reader can do about it; empty when nothing can be done. Default: the one of the class.
        extra: Additional members of the problem document (JSON values).
    """

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"
    detail: str = ""
    remedy: str = ""

    def __init_subclass__(cls) -> None:
        own = vars(cls)
        if "code" in own and "title" not in own:
            cls.title = cls.code.replace("_", " ").capitalize()

    def __init__(self, detail: str = "", *, remedy: str = "", **extra: JsonValue) -> None:
        self.detail = self.detail.format(detail) if "{}" in self.detail else detail or self.detail
        super().__init__(self.detail)
        self.remedy = remedy or self.remedy
        self.extra = extra

    def __str__(self) -> str:
        detail = self.detail if self.detail.endswith((".", "!", "?", ":")) else f"{self.detail}."
        return f"{detail} {self.remedy}".strip()

    def problem(self) -> dict[str, JsonValue]:
        """Return the RFC 9457 problem document of this error."""
        document: dict[str, JsonValue] = {
            "type": PROBLEM_TYPE_BASE + self.code.replace("_", "-"),
            "title": self.title,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
        }
        if self.remedy:
            document["remedy"] = self.remedy
        return document | self.extra


class Invalid(HeadgateError):
    """The input is well formed but invalid."""

    code = "invalid"
    status = 422
    title = "Invalid input"


class Unauthenticated(HeadgateError):
    """The caller is unknown."""

    code = "unauthenticated"
    status = 401
    title = "Not signed in"


class Forbidden(HeadgateError):
    """The caller may view the resource but not perform this operation."""

    code = "forbidden"
    status = 403
    title = "Not allowed"


class NotFound(HeadgateError):
    """The resource does not exist for the caller."""

    code = "not_found"
    status = 404
    title = "Not found"


class Conflict(HeadgateError):
    """The resource has changed, or its state does not allow the request."""

    code = "conflict"
    status = 409
    title = "Conflict"


class TooLarge(HeadgateError):
    """The input exceeds a documented limit."""

    code = "too_large"
    status = 413
    title = "Too large"


class RateLimited(HeadgateError):
    """Too many requests."""

    code = "rate_limited"
    status = 429
    title = "Too many requests"


class Unavailable(HeadgateError):
    """A required part of Headgate is missing, full or locked."""

    code = "unavailable"
    status = 503
    title = "Unavailable"


class DatabaseUnavailable(Unavailable):
    """The database of the installation is locked, full, busy or closed; nothing was changed."""


class DatabaseAway(DatabaseUnavailable):
    """The database server cannot be reached; the same operation may succeed later."""


class UpstreamFailed(HeadgateError):
    """A model provider or external web server failed."""

    code = "upstream_failed"
    status = 502
    title = "Upstream failed"


class Cancelled(HeadgateError):
    """The run or request was stopped by its owner."""

    code = "cancelled"
    status = 499
    title = "Cancelled"
