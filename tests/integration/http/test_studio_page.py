"""The studio's page as it is served, and as a wheel carries it."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx2
import pytest

from headgate.entrypoints.http.studio import page
from headgate.entrypoints.http.studio.routes import PLACES, Place
from headgate.foundation.settings import Settings
from tests.support.people import running, signed_in

ROOT = Path(__file__).parents[3]
FLOW_ID = "01a2031a-cc29-77b3-b431-ddc04d835829"
A_PERSON = {"accept": "text/html,application/xhtml+xml"}


@pytest.fixture
def built() -> Path:
    if not page.is_built():
        pytest.fail("The page is not built: run `make page`.")
    return page.BUILT


def script_of(document: str) -> str:
    """The address of the page's script."""
    found = re.search(r'<script type="module"[^>]* src="([^"]+)"', document)
    assert found is not None
    return found[1]


def address(place: Place, rest: str) -> str:
    """One of the addresses of a place."""
    return re.sub(r"\{\w+:uuid\}", FLOW_ID, place.path.replace("{rest:path}", rest))


class TestThePage:
    async def test_answers_at_every_place(self, client: httpx2.AsyncClient, built: Path) -> None:
        for place in PLACES:
            answer = await client.get(address(place, "a/b"))
            assert answer.status_code == 200, place
            assert '<div id="root">' in answer.text, place

    async def test_lets_in_its_own_style_elements_and_no_script_of_the_page_s_text(
        self, client: httpx2.AsyncClient, built: Path
    ) -> None:
        first, second = await client.get("/"), await client.get("/")
        policies = [answer.headers["content-security-policy"] for answer in (first, second)]
        nonces = [re.findall(r"'nonce-([^']+)'", policy) for policy in policies]
        assert [len(found) for found in nonces] == [1, 1]
        assert nonces[0] != nonces[1]
        assert f'nonce="{nonces[0][0]}"' in first.text
        assert "script-src 'self';" in policies[0]
        assert "unsafe" not in policies[0]

    async def test_names_every_place_s_modules_as_they_were_built(
        self, client: httpx2.AsyncClient, built: Path
    ) -> None:
        for place in PLACES:
            document = (await client.get(address(place, "x"))).text
            preloaded = re.findall(r'rel="modulepreload" href="([^"]+)"', document)
            assert len(set(preloaded)) == len(preloaded) >= len(place.modules), place.path
            for file in preloaded:
                assert (await client.get(file)).status_code == 200

    async def test_begins_what_it_will_ask_before_its_script_is_there(
        self, client: httpx2.AsyncClient, built: Path
    ) -> None:
        document = (await client.get(f"/flows/{FLOW_ID}")).text
        asked = re.findall(r'rel="preload" as="fetch" crossorigin href="([^"]+)"', document)
        assert asked == ["/api/v1/me", f"/api/v1/flows/{FLOW_ID}", "/api/v1/components"]
        other = (await client.get('/flows/"><script>')).text
        assert "/api/v1/flows/" not in other

    async def test_asks_nothing_for_who_is_not_signed_in(self, settings: Settings, built: Path) -> None:
        async with running(signed_in(settings)) as app:
            transport = httpx2.ASGITransport(app=app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411") as stranger:
                document = (await stranger.get(f"/flows/{FLOW_ID}")).text
                assert '<div id="root">' in document
                assert 'as="fetch"' not in document

    async def test_says_in_the_page_that_there_is_nothing_and_tells_programs_in_json(
        self, client: httpx2.AsyncClient, built: Path
    ) -> None:
        person = await client.get("/nowhere", headers=A_PERSON)
        program = await client.get("/nowhere")
        of_the_api = await client.get("/api/v1/nowhere", headers=A_PERSON)
        assert (person.status_code, '<div id="root">' in person.text) == (404, True)
        assert program.json()["code"] == of_the_api.json()["code"] == "route_not_found"

    async def test_says_how_to_build_it_where_it_is_not(
        self, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(page, "BUILT", tmp_path)
        page._document.cache_clear()
        answer = await client.get("/templates")
        page._document.cache_clear()
        assert answer.status_code == 503
        assert "make page" in answer.json()["remedy"]
        assert (await client.get("/nowhere", headers=A_PERSON)).json()["code"] == "route_not_found"


class TestAFileOfThePage:
    @pytest.mark.parametrize(
        ("accepted", "encoding"), [("gzip, deflate, br", "br"), ("gzip;q=1.0", "gzip"), ("identity", None)]
    )
    async def test_comes_compressed_as_the_browser_takes_it_and_is_kept(
        self, client: httpx2.AsyncClient, built: Path, accepted: str, encoding: str | None
    ) -> None:
        address = script_of((await client.get("/")).text)
        answer = await client.get(address, headers={"accept-encoding": accepted})
        assert answer.status_code == 200
        assert answer.headers.get("content-encoding") == encoding
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["content-type"].startswith("text/javascript")

    @pytest.mark.parametrize(
        "name", ["..%2findex.html", "..%2f..%2fpage.py", "%2e%2e", "nothing.js", "%00", "a%5c..%5cindex.html"]
    )
    async def test_is_one_of_the_page_s_and_no_other(self, client: httpx2.AsyncClient, built: Path, name: str) -> None:
        answer = await client.get(f"/assets/{name}")
        assert answer.status_code == 404


class TestAWheel:
    def build(self, root: Path, target: Path) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
        return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)

    def test_carries_the_page(self, built: Path, tmp_path: Path) -> None:
        made = self.build(ROOT, tmp_path)
        assert made.returncode == 0, made.stderr
        with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
            names = {name.removeprefix("headgate/entrypoints/http/studio/built/") for name in wheel.namelist()}
        carried = {str(path.relative_to(built)) for path in built.rglob("*") if path.is_file()}
        assert carried <= names

    def test_is_not_made_without_the_page(self, tmp_path: Path) -> None:
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            (tmp_path / name).write_bytes((ROOT / name).read_bytes())
        (tmp_path / "scripts").mkdir()
        (tmp_path / "scripts" / "hatch_build.py").write_bytes((ROOT / "scripts" / "hatch_build.py").read_bytes())
        (tmp_path / "src" / "headgate").mkdir(parents=True)
        made = self.build(tmp_path, tmp_path / "dist")
        assert made.returncode != 0
        assert "make page" in made.stderr
