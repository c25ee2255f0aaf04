"""A real RabbitMQ server for tests, of the machine's own package, which `scripts/ensure-rabbitmq` installs."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import amqp
import pytest

from tests.support.patience import PATIENCE_SECONDS
from tests.support.ports import free_port

PASSWORD = "only of these tests"
_SERVERS = (
    "/usr/lib/rabbitmq/bin/rabbitmq-server",
    "/opt/homebrew/sbin/rabbitmq-server",
    "/usr/local/sbin/rabbitmq-server",
)


@dataclass(frozen=True, slots=True)
class RabbitMq:
    """A server on loopback with the user `shop`."""

    port: int

    @contextmanager
    def channel(self) -> Iterator[Any]:
        """A channel of the user."""
        with amqp.Connection(f"127.0.0.1:{self.port}", "shop", PASSWORD, connect_timeout=5) as connection:
            yield connection.channel()

    def send(self, queue: str, messages: Sequence[tuple[bytes | str, dict[str, Any]]]) -> None:
        """Send bodies with their properties; all are stored when this returns."""
        with self.channel() as channel:
            channel.confirm_select()
            for body, properties in messages:
                channel.basic_publish_confirm(amqp.Message(body, **properties), routing_key=queue)

    def empty_queue(self, queue: str) -> None:
        """Make a queue anew."""
        with self.channel() as channel:
            channel.queue_delete(queue)
            channel.queue_declare(queue, durable=True, auto_delete=False)

    def count(self, queue: str) -> int:
        """How many messages wait."""
        with self.channel() as channel:
            return int(channel.queue_declare(queue, passive=True).message_count)


@contextmanager
def rabbitmq_server() -> Iterator[RabbitMq]:
    """A server that stops at the end. Skips the test where RabbitMQ is not installed."""
    server = next((path for path in _SERVERS if Path(path).exists()), None)
    if server is None:
        pytest.skip("RabbitMQ is not installed: run scripts/ensure-rabbitmq, or install the package rabbitmq-server")
    folder = Path(tempfile.mkdtemp(prefix="headgate-rabbitmq-"))
    port, distribution, names = free_port(), free_port(), free_port()
    config = folder / "rabbitmq.conf"
    config.write_text(
        f"listeners.tcp.local = 127.0.0.1:{port}\ndefault_user = shop\ndefault_pass = {PASSWORD}\n"
        "loopback_users = none\nlog.console = true\nlog.file = false\n"
    )
    places = {f"RABBITMQ_{name}": str(folder / name.lower()) for name in ("MNESIA_BASE", "LOG_BASE", "PID_FILE")}
    environment = os.environ | places | {
        "HOME": str(folder),
        "ERL_EPMD_PORT": str(names),  # a name server of its own: another test run may have a server of the same name
        "RABBITMQ_NODENAME": f"headgate{port}@localhost",
        "RABBITMQ_DIST_PORT": str(distribution),
        "RABBITMQ_CONFIG_FILE": str(config),
        "RABBITMQ_CONF_ENV_FILE": "/dev/null",
        "RABBITMQ_ENABLED_PLUGINS_FILE": "/dev/null",
    }  # fmt: skip
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([server], env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        yield _ready(RabbitMq(port), process, folder / "log")
    finally:
        _end_group(process)
        subprocess.run(["epmd", "-port", str(names), "-kill"], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _ready(server: RabbitMq, process: subprocess.Popen[bytes], log: Path) -> RabbitMq:
    give_up = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with server.channel():
                return server
        except (OSError, amqp.exceptions.AMQPError):
            if process.poll() is not None or time.monotonic() > give_up:
                pytest.fail(f"RabbitMQ did not start:\n{log.read_text(errors='replace')[-3_000:]}")
            time.sleep(0.3)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, 9)
    process.wait()
