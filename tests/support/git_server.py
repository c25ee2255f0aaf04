"""Real Git servers on loopback, and the APIs of the services that have them.

Both are `git http-backend`: `new` with protocol 2 and filters, as at the services; `old` without them. The APIs answer
as the documentation of GitHub (REST, pulls), GitLab (merge requests) and Gitea (pulls) shows.
"""

import base64
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import orjson

TOKEN = "git-token-value"
_ENVIRONMENT = {
    "PATH": os.environ.get("PATH", ""),
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in
       (("NAME", "Ann"), ("EMAIL", "ann@example.org"))},
}  # fmt: skip


@dataclass
class GitServer:
    """The server: one repository, and what it was asked."""

    kind: str
    folder: Path
    name: str = "team/docs"
    """Of the repository."""
    url: str = ""
    requests: list[str] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    """Those of the API."""
    refuse: set[str] = field(default_factory=set)
    """What the API does not do: `find`."""
    lock: Lock = field(default_factory=Lock)

    @property
    def bare(self) -> Path:
        return self.folder / f"{self.name}.git"

    def git(self, *arguments: str, content: bytes = b"") -> str:
        """Run git in the repository of the server, and return what it prints."""
        done = subprocess.run(
            ["git", "-C", str(self.bare), *arguments], input=content, capture_output=True, env=_ENVIRONMENT, check=True
        )
        return done.stdout.decode().strip()

    def commit(self, files: dict[str, bytes], *, branch: str = "main", message: str = "Change", mode: str = "") -> str:
        """Commit files as somebody else, and return the id of the commit."""
        environment = {**_ENVIRONMENT, "GIT_INDEX_FILE": str(self.folder / "index")}
        (self.folder / "index").unlink(missing_ok=True)

        def run(*arguments: str, content: bytes = b"") -> str:
            command = ["git", "-C", str(self.bare), *arguments]
            done = subprocess.run(command, input=content, capture_output=True, env=environment, check=True)
            return done.stdout.decode().strip()

        exists = run("for-each-ref", f"refs/heads/{branch}")
        if exists:
            run("read-tree", branch)
        for path, content in files.items():
            blob = run("hash-object", "-w", "--stdin", content=content)
            run("update-index", "--add", "--cacheinfo", f"{mode or '100644'},{blob},{path}")
        parent = ["-p", run("rev-parse", branch)] if exists else []
        commit = run("commit-tree", run("write-tree"), *parent, "-m", message)
        run("update-ref", f"refs/heads/{branch}", commit)
        return commit

    def read(self, path: str, branch: str = "main") -> str:
        return self.git("show", f"{branch}:{path}")


@contextmanager
def git_server(kind: str, folder: Path, name: str = "team/docs") -> Iterator[GitServer]:
    """A server, up, with an empty repository."""
    server = GitServer(kind, folder, name)
    server.bare.parent.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(server.bare)], env=_ENVIRONMENT, check=True)
    for option, value in (("http.receivepack", "true"), ("uploadpack.allowFilter", str(kind == "new"))):
        server.git("config", option, value)
    listener = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    listener.daemon_threads = True
    server.url = f"http://127.0.0.1:{listener.server_port}"
    thread = Thread(target=listener.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join(10)


def _handler(server: GitServer) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        def do_GET(self) -> None:
            with server.lock:
                self.answer(server)

        def do_POST(self) -> None:
            self.do_GET()

    return Handler


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None: ...

    def answer(self, server: GitServer) -> None:
        parts = urlsplit(self.path)
        body = self._body()
        server.requests.append(f"{self.command} {self.path}")
        if parts.path.startswith("/api/"):
            status, document = _api(server, self, unquote(parts.path), parse_qs(parts.query), body)
            self._send(status, {"Content-Type": "application/json"}, orjson.dumps(document))
        elif not self._signed_in():
            self._send(401, {"WWW-Authenticate": 'Basic realm="git"'}, b"")
        else:
            self._git(server, parts.path, parts.query, body)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            pieces = []
            while size := int(self.rfile.readline(), 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            return b"".join(pieces)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _signed_in(self) -> bool:
        _, _, given = self.headers.get("Authorization", "").partition(" ")
        return base64.b64decode(given).decode().partition(":")[2] == TOKEN

    def _git(self, server: GitServer, path: str, query: str, body: bytes) -> None:
        environment = {
            **_ENVIRONMENT,
            "GIT_PROJECT_ROOT": str(server.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", "") if server.kind == "new" else "",
            "REMOTE_USER": "ann",
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = {name: value.strip() for name, _, value in (x.partition(":") for x in head.decode().split("\r\n"))}
        self._send(int(headers.pop("Status", "200 OK").split()[0]), headers, content)

    def _send(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _api(
    server: GitServer, handler: BaseHTTPRequestHandler, path: str, query: dict[str, list[str]], body: bytes
) -> tuple[int, Any]:
    """Answer as the API of the service in the path."""
    if handler.headers.get("Authorization") != f"Bearer {TOKEN}":
        return 401, {"message": "Bad credentials"}
    service = path.split("/")[2]
    if path.endswith("/user"):
        return 200, {"login": "ann"}
    paths = {"gitlab": f"/api/gitlab/projects/{server.name}/merge_requests"}
    if path != paths.get(service, f"/api/{service}/repos/{server.name}/pulls"):
        return 404, {"message": "Not Found"}
    answer = {"github": _github, "gitlab": _gitlab, "gitea": _gitea}[service]
    return answer(server, handler.command, {name: values[0] for name, values in query.items()}, body)


def _github(server: GitServer, method: str, query: dict[str, str], body: bytes) -> tuple[int, Any]:
    def shown(change: dict[str, Any]) -> dict[str, Any]:
        return {
            "number": change["number"],
            "html_url": f"https://github.example/team/docs/pull/{change['number']}",
            "state": "open" if change["open"] else "closed",
            "title": change["title"],
            "body": change["text"],
            "draft": change["draft"],
            "head": {"label": f"team:{change['branch']}", "ref": change["branch"], "sha": "0" * 40},
            "base": {"label": f"team:{change['target']}", "ref": change["target"], "sha": "0" * 40},
        }

    if method == "GET":
        owner, _, branch = query["head"].partition(":")
        rows = [row for row in server.changes if (row["branch"], row["target"]) == (branch, query["base"])]
        return 200, [] if "find" in server.refuse or owner != server.name.partition("/")[0] else [
            shown(row) for row in rows
        ]
    given = orjson.loads(body)
    refusal = _refusal(server, given["head"], given["base"])
    if refusal:
        message = f"{refusal} for team:{given['head']}."
        errors = [{"resource": "PullRequest", "code": "custom", "message": message}]
        return 422, {"message": "Validation Failed", "errors": errors, "status": "422"}
    return 201, shown(
        _opened(server, given["head"], given["base"], given["title"], given["body"], draft=given["draft"])
    )


def _gitlab(server: GitServer, method: str, query: dict[str, str], body: bytes) -> tuple[int, Any]:
    def shown(change: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": 1_000 + change["number"],
            "iid": change["number"],
            "title": change["title"],
            "description": change["text"],
            "state": "opened" if change["open"] else "merged",
            "source_branch": change["branch"],
            "target_branch": change["target"],
            "draft": change["title"].startswith("Draft: "),
            "web_url": f"https://gitlab.example/team/docs/-/merge_requests/{change['number']}",
        }

    if method == "GET":
        wanted = (query["source_branch"], query["target_branch"])
        rows = [row for row in server.changes if (row["branch"], row["target"]) == wanted]
        return 200, [] if "find" in server.refuse else [shown(row) for row in rows]
    given = orjson.loads(body)
    source, target = given["source_branch"], given["target_branch"]
    refusal = _refusal(server, source, target)
    if refusal:
        return 409, {"message": ["Another open merge request already exists for this source branch: !1"]}
    return 201, shown(_opened(server, source, target, given["title"], given["description"], draft=False))


def _gitea(server: GitServer, method: str, query: dict[str, str], body: bytes) -> tuple[int, Any]:
    def shown(change: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": 1_000 + change["number"],
            "number": change["number"],
            "html_url": f"https://gitea.example/team/docs/pulls/{change['number']}",
            "state": "open" if change["open"] else "closed",
            "title": change["title"],
            "body": change["text"],
            "head": {"label": change["branch"], "ref": change["branch"], "sha": "0" * 40},
            "base": {"label": change["target"], "ref": change["target"], "sha": "0" * 40},
        }

    if method == "GET":
        start = (int(query["page"]) - 1) * int(query["limit"])
        rows = [] if "find" in server.refuse else server.changes[start : start + int(query["limit"])]
        return 200, [shown(row) for row in rows]
    given = orjson.loads(body)
    refusal = _refusal(server, given["head"], given["base"])
    if refusal:
        return 409, {"message": "pull request already exists for these targets [id: 1]", "url": "/api/swagger"}
    return 201, shown(_opened(server, given["head"], given["base"], given["title"], given["body"], draft=False))


def _refusal(server: GitServer, branch: str, target: str) -> str:
    taken = any(row["open"] and (row["branch"], row["target"]) == (branch, target) for row in server.changes)
    return "A pull request already exists" if taken else ""


def _opened(server: GitServer, branch: str, target: str, title: str, text: str, *, draft: bool) -> dict[str, Any]:
    server.refuse.discard("find")
    number = len(server.changes) + 1
    change = {"number": number, "branch": branch, "target": target, "title": title, "text": text, "draft": draft}
    server.changes.append({**change, "open": True})
    return server.changes[-1]
