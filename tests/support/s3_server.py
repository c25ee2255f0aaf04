"""A real S3-speaking server on loopback: moto in a separate process."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config
from pydantic import SecretStr

from headgate.foundation.settings import StorageSettings
from tests.support.ports import free_port

_SERVE = "import sys; from moto.server import main; main(['-H', '127.0.0.1', '-p', sys.argv[1]])"
START_SECONDS = 30.0


@dataclass(frozen=True)
class S3Server:
    """The server's address, and a client of another make to look into it with."""

    address: str
    client: Any

    def settings(self, bucket: str, **more: Any) -> StorageSettings:
        """Settings of a storage in a bucket of this server."""
        return StorageSettings(
            kind="s3",
            bucket=bucket,
            endpoint_url=self.address,
            access_key_id=SecretStr("key"),
            secret_access_key=SecretStr("secret"),
            **more,
        )

    def keys(self, bucket: str) -> list[str]:
        """Every key in a bucket."""
        return [one["Key"] for one in self.client.list_objects_v2(Bucket=bucket).get("Contents", [])]

    def unfinished(self, bucket: str) -> list[str]:
        """Keys of uploads that were begun and neither completed nor aborted."""
        return [one["Key"] for one in self.client.list_multipart_uploads(Bucket=bucket).get("Uploads", [])]


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """A server, up."""
    port = free_port()
    command = [sys.executable, "-c", _SERVE, str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await_listener(port, process)
        address = f"http://127.0.0.1:{port}"
        client = boto3.client(
            "s3",
            endpoint_url=address,
            region_name="us-east-1",
            aws_access_key_id="key",
            aws_secret_access_key="secret",
            config=Config(s3={"addressing_style": "path"}),
        )
        yield S3Server(address, client)
        client.close()
    finally:
        process.kill()
        process.wait()


def _await_listener(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError("the S3 server did not start")
        time.sleep(0.05)
