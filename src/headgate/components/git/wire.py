"""The Git protocol over HTTP, with dulwich. Imported when a repository is opened.

The library is given a proxy that reaches the servers of the connection only. It reads no configuration, key or
environment of the server, and only the answers of the protocol: packs are read by `packs`, within limits.
"""

import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any
from urllib.parse import urlsplit

import urllib3
from dulwich.client import FetchPackResult, HTTPUnauthorized, SendPackResult, Urllib3HttpGitClient
from dulwich.errors import NotGitRepository
from dulwich.object_store import ObjectStoreGraphWalker
from dulwich.objects import ObjectID, ShaFile
from dulwich.pack import UnpackedObject, pack_objects_to_data
from dulwich.refs import Ref

from headgate.components.git.packs import BadPack, GitObject, read_pack
from headgate.components.git.repository import BranchMoved, Refs, RepositoryMissing, RepositoryRefused
from headgate.foundation.guarded_http import LocalProxy

MOST_BYTES = 100_000_000
"""Of the packs that one step reads, and of what they contain, decompressed."""
MOST_OBJECTS = 200_000
MOST_REF_BYTES = 20_000_000
"""Of a list of branches and tags."""
_PREFIXES = (b"HEAD", b"refs/heads/", b"refs/tags/")


class _Pool(urllib3.ProxyManager):
    """Closes its responses: the library forgets some."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401
        self.responses: list[urllib3.BaseHTTPResponse] = []
        super().__init__(*arguments, **named)

    def urlopen(self, *arguments: Any, **named: Any) -> urllib3.BaseHTTPResponse:  # noqa: ANN401
        response = super().urlopen(*arguments, **named)
        self.responses.append(response)
        return response

    def clear(self) -> None:
        for response in self.responses:
            response.close()
        super().clear()


class _Client(Urllib3HttpGitClient):
    """Counts what it receives: the library reads lists of branches without a limit."""

    left = MOST_REF_BYTES

    def _http_request(self, *arguments: Any, **named: Any) -> tuple[Any, Callable[[int], bytes]]:  # noqa: ANN401
        response, read = super()._http_request(*arguments, **named)
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise BadPack("the server compressed its answer, which was not requested")

        def counted(size: int) -> bytes:
            content: bytes = read(size)
            self.left -= len(content)
            if self.left < 0:
                raise BadPack("the server sent too much")
            return content

        return response, counted


class GitWire:
    """A repository on its server. Blocking.

    Args:
        url: Its address.
        proxy: Reaches its server.
        user: Sent with the token; the token may be empty.
        token: Secret.
        seconds: Timeout of each read.
    """

    def __init__(self, url: str, proxy: LocalProxy, user: str, token: str, seconds: float) -> None:
        context = ssl.create_default_context()
        if proxy.ca_file is not None:
            context.load_verify_locations(proxy.ca_file)
        address = urlsplit(proxy.url)
        pool = _Pool(
            f"http://{address.hostname}:{address.port}",
            proxy_headers=urllib3.make_headers(proxy_basic_auth=f"{address.username}:{address.password}"),
            headers={"User-Agent": "git/2 (headgate)"},
            ssl_context=context,
            timeout=urllib3.Timeout(connect=10, read=seconds),
            retries=urllib3.Retry(total=3, connect=0, read=0, status=0, other=0, redirect=3),
        )
        signed_in: dict[str, Any] = {"username": user, "password": token} if token else {}
        self._client = _Client(url, pool_manager=pool, thin_packs=False, quiet=True, **signed_in)
        self._pool = pool
        self._left = MOST_BYTES

    def close(self) -> None:
        """Close its connections."""
        self._pool.clear()

    def refs(self) -> Refs:
        """Return the branches and tags."""
        self._client.left = MOST_REF_BYTES
        answer = self._asked(lambda: self._client.get_refs("", ref_prefix=_PREFIXES))
        ids = {_text(name): _text(id_) for name, id_ in answer.refs.items() if id_ and not name.endswith(b"^{}")}
        return Refs(ids, _text(answer.symrefs.get(b"HEAD", b"")))

    def fetch(self, wants: Sequence[str], *, depth: int | None, leave: str) -> dict[str, GitObject]:
        """Return objects, and what they refer to, by id.

        Args:
            wants: Ids of commits, tags or contents.
            depth: How many commits of the history; None: the history is not followed, for contents.
            leave: What is not sent: `blob:none`, `tree:0`; a server without this feature sends it.
        """
        pack = bytearray()
        self._client.left = MOST_REF_BYTES + self._left

        def receive(piece: bytes) -> int:
            if len(pack) + len(piece) > self._left:
                raise BadPack(f"it has more than {MOST_BYTES:,} bytes")
            pack.extend(piece)
            return len(piece)

        def choose(refs: Mapping[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
            del refs, depth
            return [ObjectID(id_.encode("ascii")) for id_ in wants]

        def fetch() -> FetchPackResult:
            return self._client.fetch_pack(
                "",
                choose,
                ObjectStoreGraphWalker([], lambda _: []),
                receive,
                depth=depth,
                ref_prefix=(b"HEAD",),
                filter_spec=leave.encode("ascii") or None,
            )

        self._asked(fetch)
        objects = read_pack(bytes(pack), most_bytes=self._left, most_objects=MOST_OBJECTS)
        self._left -= max(len(pack), sum(len(item.content) for item in objects.values()))
        return objects

    def push(self, branch: str, old: str, new: str, objects: Iterable[GitObject]) -> str:
        """Set a branch that is still at `old` (empty: it does not exist) to a new commit; return why not, or nothing.

        The server compares, too: nobody's commit is lost. Raises `BranchMoved`.
        """
        name = Ref(f"refs/heads/{branch}".encode())
        stored = [ShaFile.from_raw_string(item.kind, item.content) for item in objects]
        self._client.left = 2 * MOST_REF_BYTES

        def update(refs: dict[Ref, ObjectID]) -> dict[Ref, ObjectID]:
            if _text(refs.get(name, ObjectID(b""))) != old:
                raise BranchMoved
            return {name: ObjectID(new.encode("ascii"))}

        def data(
            have: AbstractSet[ObjectID],
            want: AbstractSet[ObjectID],
            *,
            ofs_delta: bool = False,
            progress: Callable[..., None] | None = None,
        ) -> tuple[int, Iterator[UnpackedObject]]:
            del have, want, ofs_delta, progress
            return pack_objects_to_data(stored)

        result: SendPackResult = self._asked(lambda: self._client.send_pack("", update, data))
        return (result.ref_status or {}).get(name) or ""

    @staticmethod
    def _asked(ask: Callable[[], Any]) -> Any:  # noqa: ANN401
        try:
            return ask()
        except NotGitRepository as error:
            raise RepositoryMissing from error
        except HTTPUnauthorized as error:
            raise RepositoryRefused from error


def _text(value: bytes) -> str:
    return bytes(value).decode("utf-8", "replace")
