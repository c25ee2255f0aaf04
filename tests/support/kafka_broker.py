"""A scripted Kafka broker on loopback, for what the mock cluster cannot do: sign-in, transactions, hostile answers.

Its messages are encoded by the structures of aiokafka.
"""

import hashlib
import hmac
import socket
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BytesIO
from struct import pack, unpack
from threading import Thread
from typing import Any

from aiokafka.protocol import admin, commit, coordination, fetch, metadata, offset
from aiokafka.protocol.api import RequestHeader_v1
from aiokafka.record._crc32c import crc as crc32c
from aiokafka.record.default_records import _DefaultRecordBatchBuilderPy

NODE = 1
ROUNDS = 4096
CLASSES = (
    fetch.FetchRequest_v11,
    offset.OffsetRequest_v3,
    metadata.MetadataRequest_v5,
    commit.OffsetCommitRequest_v3,
    coordination.FindCoordinatorRequest_v1,
    admin.SaslHandShakeRequest_v1,
    admin.ApiVersionRequest_v0,
    admin.SaslAuthenticateRequest_v1,
)
REQUESTS = {known.API_KEY: known for known in CLASSES}


def batch(
    first: int, *values: bytes | None, producer: int = -1, codec: int = 0, control: int | None = None, at: int = 0
) -> bytes:
    """A batch with these values from this offset on; of a transaction with a producer, its end with `control`."""
    builder = _DefaultRecordBatchBuilderPy(2, codec, int(producer >= 0), producer, 0, 0, 1 << 30)
    if control is not None:
        builder.append(0, 1_000, pack(">HH", 0, control), b"", [])
    for number, value in enumerate(values):
        builder.append(number, (at or 1_700_000_000_000) + number, None, value, [])
    content = bytearray(builder.build())
    content[:8] = pack(">q", first)
    if control is not None:
        content[21:23] = pack(">h", unpack(">h", content[21:23])[0] | 0x20)
        content[17:21] = pack(">I", crc32c(bytes(content[21:])))
    return bytes(content)


@dataclass
class Broker:
    """What it answers."""

    port: int = 0
    servers: list[tuple[str, int]] = field(default_factory=list)
    """Of the metadata, after itself; the last one leads every partition."""
    partitions: int = 1
    content: bytes = b""
    """Batches of partition 0."""
    start: int = 0
    end: int = 0
    aborted: list[tuple[int, int]] = field(default_factory=list)
    user: str = ""
    password: str = ""
    rounds: int = ROUNDS
    tamper: Callable[[int, bytes], bytes] = lambda _key, content: content
    """Changes the frame of an answer, by the key of its request."""
    asked: list[int] = field(default_factory=list)
    """Keys of the requests."""

    def answer(self, key: int, request: Any, session: dict[str, Any]) -> Any:
        """The response to a request."""
        kind = REQUESTS[key].RESPONSE_TYPE
        parts: Any
        match key:
            case 18:
                return kind(0, [(known.API_KEY, 0, known.API_VERSION) for known in CLASSES])
            case 17:
                session["mechanism"] = request.mechanism
                return kind(0, ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
            case 36:
                told = self._signed_in(request.sasl_auth_bytes, session)
                return kind(58, "Authentication failed", b"", 0) if told is None else kind(0, None, told, 0)
            case 3:
                servers = [("127.0.0.1", self.port), *self.servers]
                brokers = [(number, host, port, None) for number, (host, port) in enumerate(servers, NODE)]
                parts = [(0, number, len(servers), [NODE], [NODE], []) for number in range(self.partitions)]
                return kind(0, brokers, "cluster", NODE, [(0, topic, False, parts) for topic in request.topics])
            case 2:
                ends = {-2: self.start, -1: self.end}
                return kind(
                    0,
                    [
                        (topic, [(number, 0, -1, 0 if number else ends[which]) for number, which in parts])
                        for topic, parts in request.topics
                    ],
                )
            case 1:
                topic, ((number, *_),) = request.topics[0]
                return kind(0, 0, 0, [(topic, [(number, 0, self.end, self.end, 0, self.aborted, -1, self.content)])])
            case _:
                raise AssertionError(key)

    def _signed_in(self, token: bytes, session: dict[str, Any]) -> bytes | None:
        if session["mechanism"] == "PLAIN":
            return b"" if token.split(b"\0")[1:] == [self.user.encode(), self.password.encode()] else None
        name = session["mechanism"].removeprefix("SCRAM-").replace("-", "").lower()
        if "first" not in session:
            first = token.decode().removeprefix("n,,")
            session["first"] = f"{first},r={first.partition('r=')[2]}server,s={b64encode(b'salt').decode()}"
            session["first"] += f",i={self.rounds}"
            return str(session["first"][len(first) + 1 :]).encode()
        bare, proof = token.decode().split(",p=")
        salted = hashlib.pbkdf2_hmac(name, self.password.encode(), b"salt", ROUNDS)
        client = hmac.digest(salted, b"Client Key", name)
        said = f"{session['first']},{bare}".encode()
        signature = hmac.digest(hashlib.new(name, client).digest(), said, name)
        if bytes(a ^ b for a, b in zip(b64decode(proof), signature, strict=True)) != client:
            return None
        return b"v=" + b64encode(hmac.digest(hmac.digest(salted, b"Server Key", name), said, name))

    def serve(self, client: socket.socket) -> None:
        """Answer the requests of a connection."""
        session: dict[str, Any] = {}
        with client, suppress(OSError, EOFError):
            while True:
                (size,) = unpack(">i", _read(client, 4))
                frame = BytesIO(_read(client, size))
                header = RequestHeader_v1.SCHEMA.decode(frame)
                key, number = header[0], header[2]
                self.asked.append(key)
                answer = self.answer(key, REQUESTS[key].decode(frame), session)
                content = pack(">i", number) + answer.encode()
                client.sendall(self.tamper(key, pack(">i", len(content)) + content))


def _read(client: socket.socket, size: int) -> bytes:
    content = b""
    while len(content) < size:
        part = client.recv(size - len(content))
        if not part:
            raise EOFError
        content += part
    return content


@contextmanager
def broker(**values: Any) -> Iterator[Broker]:
    """A broker that ends with the block."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Broker(port=listener.getsockname()[1], **values)

        def serve() -> None:
            with suppress(OSError):
                while True:
                    Thread(target=made.serve, args=(listener.accept()[0],), daemon=True).start()

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield made
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(10)
