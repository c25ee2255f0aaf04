"""Changes (pull requests, merge requests) at GitHub, GitLab, Gitea and Forgejo, over their APIs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

import orjson
from pydantic import JsonValue

from headgate.components.git.opening import path_of
from headgate.foundation.errors import UpstreamFailed
from headgate.graph.names import clipped
from headgate.sdk import ComponentError, Connection, HttpAnswer

SERVICES: Final = ("github", "gitlab", "gitea", "other")
PAGES = 4
"""Pages of changes that are searched for one that exists, the newest first."""
PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """A change to open."""

    branch: str
    target: str
    title: str
    text: str
    draft: bool
    marker: str
    """Names the step in the text of the change; invisible where it is shown."""


@dataclass(frozen=True, slots=True)
class Service:
    """How an API names things."""

    path: str
    """Of the changes of a repository."""
    branch: str
    """Paths of members of a change, with dots."""
    target: str
    number: str
    url: str
    text: str
    draft: str
    """Begins the title of a draft; empty: a member says it."""
    search: str
    """More parameters of a search."""


_SERVICES: Final[Mapping[str, Service]] = {
    "github": Service(
        "repos/{repository}/pulls", "head.ref", "base.ref", "number", "html_url", "body", "",
        "sort=created&direction=desc&per_page={per_page}",
    ),
    "gitlab": Service(
        "projects/{quoted}/merge_requests", "source_branch", "target_branch", "iid", "web_url", "description",
        "Draft: ", "order_by=created_at&sort=desc&per_page={per_page}",
    ),
    "gitea": Service(
        "repos/{repository}/pulls", "head.ref", "base.ref", "number", "html_url", "body", "WIP: ",
        "sort=recentupdate&limit={per_page}",
    ),
}  # fmt: skip


async def open_change(
    connection: Connection, repository: str, request: ChangeRequest, *, seconds: float
) -> dict[str, JsonValue]:
    """Open a change, or return the one of an earlier attempt, or an open one of the same branches.

    Returns number, url, state, title and whether it was created. Raises `ComponentError`, `UpstreamFailed`.
    """
    api = _Api(connection, repository, seconds)
    existing = await api.find(request)
    if existing is not None:
        return api.described(existing, created=False)
    answer = await api.create(request)
    if answer.status in {409, 422}:  # opened meanwhile by another attempt, or refused
        existing = await api.find(request)
        if existing is not None:
            return api.described(existing, created=False)
    return api.described(api.accepted(answer), created=True)


class _Api:
    def __init__(self, connection: Connection, repository: str, seconds: float) -> None:
        self._connection, self._seconds = connection, seconds
        self._name = connection.text("service", "other")
        base = connection.text("api_url").rstrip("/")
        path = path_of(repository, subject="OpenChange")
        if self._name not in _SERVICES or not base or not path:
            raise ComponentError(
                f"OpenChange: the connection '{connection.name}' cannot open changes, or no repository is named.",
                remedy="Set service and API address of the connection, and the repository as owner/name.",
            )
        self._service = _SERVICES[self._name]
        self._owner = path.partition("/")[0]
        self._url = f"{base}/{self._service.path.format(repository=path, quoted=quote(path, safe=''))}"

    async def find(self, request: ChangeRequest) -> Mapping[str, Any] | None:
        """Return the change of this step, else an open one of the same branches."""
        existing: Mapping[str, Any] | None = None
        for page in range(1, PAGES + 1):
            changes = await self._page(request, page)
            for change in changes:
                if _member(change, self._service.branch) != request.branch:
                    continue
                if _member(change, self._service.target) != request.target:
                    continue
                if request.marker in str(change.get(self._service.text) or ""):
                    return change
                if existing is None and change.get("state") in {"open", "opened"}:
                    existing = change
            if len(changes) < PER_PAGE:
                break
        return existing

    async def create(self, request: ChangeRequest) -> HttpAnswer:
        """Ask the API for a change."""
        text = f"{request.text.strip()}\n\n{request.marker}".strip()
        title = f"{self._service.draft if request.draft else ''}{request.title}"
        body: dict[str, JsonValue] = {"title": title}
        if self._name == "gitlab":
            body |= {"source_branch": request.branch, "target_branch": request.target, "description": text}
        else:
            body |= {"head": request.branch, "base": request.target, "body": text}
        if self._name == "github":
            body["draft"] = request.draft
        return await self._request("POST", self._url, body)

    def accepted(self, answer: HttpAnswer) -> Mapping[str, Any]:
        """Return the new change. Raises `UpstreamFailed` with the reason of the server."""
        change = _parsed(answer)
        if answer.status not in {200, 201} or not isinstance(change, dict):
            raise self._failed(answer)
        return change

    def described(self, change: Mapping[str, Any], *, created: bool) -> dict[str, JsonValue]:
        """Return a change as data."""
        number = change.get(self._service.number)
        return {
            "number": number if isinstance(number, int) else None,
            "url": str(change.get(self._service.url) or "")[:1_000],
            "title": str(change.get("title") or "")[:500],
            "state": str(change.get("state") or "")[:20],
            "created": created,
        }

    async def _page(self, request: ChangeRequest, page: int) -> Sequence[Mapping[str, Any]]:
        query = {"state": "all", "page": str(page)}
        if self._name == "github":
            query |= {"head": f"{self._owner}:{request.branch}", "base": request.target}
        if self._name == "gitlab":
            query |= {"source_branch": request.branch, "target_branch": request.target}
        search = self._service.search.format(per_page=PER_PAGE)
        answer = await self._request("GET", f"{self._url}?{urlencode(query)}&{search}", None)
        changes = _parsed(answer)
        if answer.status != 200 or not isinstance(changes, list):
            raise self._failed(answer)
        return [change for change in changes if isinstance(change, dict)]

    async def _request(self, method: str, url: str, body: JsonValue) -> HttpAnswer:
        headers = {"Accept": "application/vnd.github+json" if self._name == "github" else "application/json"}
        content = None if body is None else orjson.dumps(body)
        if content is not None:
            headers["Content-Type"] = "application/json"
        return await self._connection.http.request(
            method, url, headers=headers, body=content, timeout_seconds=self._seconds
        )

    def _failed(self, answer: HttpAnswer) -> UpstreamFailed:
        reasons = " ".join(_reasons(_parsed(answer))) or "no reason given"
        return UpstreamFailed(
            f"OpenChange: {self._connection.name} answered {answer.status}: {clipped(reasons, 200)}.",
            remedy="Check the repository, that both branches exist and differ, and what the token may do.",
        )


def _parsed(answer: HttpAnswer) -> Any:  # noqa: ANN401 - any JSON
    try:
        return orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        return None


def _member(change: Mapping[str, Any], path: str) -> str:
    value: Any = change
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return str(value or "")


def _reasons(document: object) -> Iterator[str]:
    """Yield what an API says about a refusal: `message` as a text or list, `errors` with messages."""
    if isinstance(document, str):
        yield " ".join(document.split())[:200]
    elif isinstance(document, list):
        for item in document[:5]:
            yield from _reasons(item)
    elif isinstance(document, dict):
        for name in ("message", "error", "errors"):
            yield from _reasons(document.get(name))
