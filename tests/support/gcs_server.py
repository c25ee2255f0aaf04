"""A small Google Cloud Storage on loopback: the XML API, with tokens of a service account that it verifies."""

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

EMAIL = "flows@example.iam.gserviceaccount.com"


@dataclass(frozen=True)
class GcsServer:
    """The server's address, the key of its service account, and its objects."""

    address: str
    key: str
    objects: dict[str, tuple[bytes, float]] = field(repr=False)


def new_key() -> tuple[rsa.RSAPrivateKey, str]:
    """A key, and the JSON file of a service account with it."""
    private = rsa.generate_private_key(65537, 2048)
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private, json.dumps({
        "type": "service_account", "client_email": EMAIL, "private_key_id": "k1", "private_key": pem.decode(),
        "token_uri": "https://elsewhere.example/token", "gcs_base_url": "https://elsewhere.example",
    })  # fmt: skip


@contextmanager
def gcs_server(bucket: str) -> Iterator[GcsServer]:
    """A server with one bucket, up."""
    private, key = new_key()
    objects: dict[str, tuple[bytes, float]] = {}
    handler = type("Handler", (_Handler,), {"bucket": bucket, "public": private.public_key(), "objects": objects})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield GcsServer(f"http://127.0.0.1:{server.server_port}", key, objects)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bucket: str
    public: rsa.RSAPublicKey
    objects: dict[str, tuple[bytes, float]]

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _name(self) -> str | None:
        """The object of the request; empty for the bucket. Answers itself when it refuses."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.body = body
        if not _verified(self.headers.get("Authorization", ""), self.public):
            self._answer(401, b"<Error><Code>AuthenticationRequired</Code></Error>")
            return None
        first, _, rest = unquote(urlsplit(self.path).path).lstrip("/").partition("/")
        if first != self.bucket:
            self._answer(404, b"<Error><Code>NoSuchBucket</Code></Error>")
            return None
        return rest

    def _answer(self, status: int, content: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def do_GET(self) -> None:
        name = self._name()
        if name == "":
            self._answer(200, self._listing(), Content_Type="application/xml")
        elif name is not None:
            self._send(name)

    def do_HEAD(self) -> None:
        name = self._name()
        if name is not None:
            self._send(name)

    def _send(self, name: str) -> None:
        if name not in self.objects:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
            return
        content, changed = self.objects[name]
        headers = {"ETag": f'"{_tag(content)}"', "Last_Modified": formatdate(changed, usegmt=True)}
        asked = self.headers.get("Range", "")
        if self.command == "HEAD" or not asked:
            self._answer(200, content, **headers)
            return
        first, last = asked.removeprefix("bytes=").split("-")
        start, end = int(first), min(int(last or len(content)), len(content) - 1)
        headers["Content_Range"] = f"bytes {start}-{end}/{len(content)}"
        self._answer(206, content[start : end + 1], **headers)

    def do_PUT(self) -> None:
        name = self._name()
        if not name:
            return
        source = unquote(self.headers.get("x-goog-copy-source", "")).removeprefix(f"{self.bucket}/")
        if source and source not in self.objects:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
            return
        content = self.objects[source][0] if source else self.body
        self.objects[name] = (content, time.time())
        self._answer(200, b"<CopyObjectResult/>" if source else b"", ETag=f'"{_tag(content)}"')

    def do_DELETE(self) -> None:
        name = self._name()
        if name is not None:
            self._answer(204 if self.objects.pop(name, None) else 404)

    def _listing(self) -> bytes:
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        folders, rows = set[str](), list[str]()
        for name, (content, changed) in sorted(self.objects.items()):
            if not name.startswith(prefix):
                continue
            head, separator, _ = name[len(prefix) :].partition(delimiter) if delimiter else (name, "", "")
            if separator:
                folders.add(f"{prefix}{head}{separator}")
                continue
            when = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(changed))
            rows.append(
                f"<Contents><Key>{escape(name)}</Key><Size>{len(content)}</Size>"
                f'<LastModified>{when}</LastModified><ETag>"{_tag(content)}"</ETag></Contents>'
            )
        prefixes = [f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>" for name in sorted(folders)]
        return f"<ListBucketResult>{''.join((*rows, *prefixes))}</ListBucketResult>".encode()


def _tag(content: bytes) -> str:
    return md5(content, usedforsecurity=False).hexdigest()


def _verified(authorization: str, public: rsa.RSAPublicKey) -> bool:
    signed, _, signature = authorization.removeprefix("Bearer ").rpartition(".")
    try:
        public.verify(_decoded(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        claims = json.loads(_decoded(signed.partition(".")[2]))
    except (InvalidSignature, ValueError):
        return False
    return bool(claims["iss"] == EMAIL and claims["exp"] > time.time() and "devstorage" in claims["scope"])


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
