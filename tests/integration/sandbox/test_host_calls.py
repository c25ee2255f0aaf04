import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pydantic import JsonValue

from headgate.foundation.errors import Invalid
from headgate.graph.manifest import Manifest
from headgate.sandbox import libraries
from headgate.sandbox.errors import CodeFailed, CodeTimedOut, CodeTooBig
from headgate.sandbox.limits import PoolSize
from headgate.sandbox.pool import SandboxPool
from headgate.sdk import CodeRunner
from tests.integration.sandbox.conftest import LIMITS

pytestmark = [pytest.mark.isolated, pytest.mark.asyncio(loop_scope="module")]

HOSTING = Path(__file__).with_name("hosting")
DESCRIBE, PRODUCE, LOADED, GIVE = (f"sandbox_test_host:{name}" for name in ("describe", "produce", "loaded", "give"))
SDK = Manifest(imports=("headgate",))
SHOUT = '''
from headgate.sdk import Component, Text, field, output

class Shout(Component):
    """Says it loudly."""

    text: Text = field(label="What to say")

    @output()
    async def loud(self) -> Text:
        return self.text.upper() + "!"
'''


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hosting() -> AsyncIterator[SandboxPool]:
    """A pool whose zygote loads this folder's host functions."""
    pool = SandboxPool(
        scan=False,
        limits=LIMITS,
        size=PoolSize(running=2, spare=1, idle=2),
        hosts=(DESCRIBE, PRODUCE, LOADED, GIVE),
        import_paths=(*libraries.installed_packages(), str(HOSTING)),
    )
    yield pool
    await pool.aclose()


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The platform as a package among others, as a wheel installs it."""
    with tempfile.TemporaryDirectory(prefix="headgate-site-") as folder:
        site = Path(folder)
        site.chmod(0o755)
        leave_out = shutil.ignore_patterns("__pycache__", "*.pyc")
        shutil.copytree(Path(libraries.platform_folder(), "headgate"), site / "headgate", ignore=leave_out)
        (site / "neighbour.py").write_text("answer = 42\n")
        monkeypatch.setattr(libraries, "platform_folder", lambda: folder)
        yield folder


async def give(
    pool: SandboxPool, code: str, inputs: Any = None, *, tenant: str = "alice", manifest: Manifest = SDK
) -> Any:
    """What `run(inputs)` of the code gives through a host function."""
    return await pool.runner(tenant).call_host(code, GIVE, {"inputs": inputs}, manifest=manifest)


class TestCallHost:
    async def test_describes_and_produces_with_the_platforms_own_functions(self, hosting: SandboxPool) -> None:
        runner: CodeRunner = hosting.runner("alice")
        template = await runner.call_host(SHOUT, DESCRIBE, {}, manifest=SDK)
        assert isinstance(template, dict)
        assert (template["type"], template["description"]) == ("Shout", "Says it loudly.")
        arguments: dict[str, Any] = {"values": {"text": "hello"}, "output": "loud"}
        assert await runner.call_host(SHOUT, PRODUCE, arguments, manifest=SDK, timeout_seconds=5) == "HELLO!"

    async def test_passes_the_platforms_own_message_and_remedy_on(self, hosting: SandboxPool) -> None:
        arguments: dict[str, Any] = {"values": {}, "output": "loud"}
        with pytest.raises(CodeFailed, match="field 'text' is empty") as caught:
            await hosting.runner("alice").call_host(SHOUT, PRODUCE, arguments, manifest=SDK)
        assert caught.value.remedy == "Set 'text' or connect something to it."
        assert caught.value.extra["exception"] == "ComponentError"

    async def test_names_the_codes_own_line(self, hosting: SandboxPool) -> None:
        code = "def run(inputs):\n    return 1 / inputs\n"
        with pytest.raises(CodeFailed, match=r"the component raised ZeroDivisionError.*\(line 2: return 1 / inputs\)"):
            await give(hosting, code, 0)

    async def test_refuses_functions_that_are_not_listed(self, hosting: SandboxPool) -> None:
        with pytest.raises(Invalid, match="is not one of the functions that can be called on custom code"):
            await hosting.runner("alice").call_host(SHOUT, "os:system", {"command": "true"}, manifest=SDK)

    async def test_keeps_a_worker_for_the_same_execution_code_and_manifest_only(self, hosting: SandboxPool) -> None:
        code, more = "import os\ndef run(inputs): return os.getpid()", Manifest(imports=("headgate", "os"))

        async def process(runner: CodeRunner, manifest: Manifest) -> JsonValue:
            return await runner.call_host(code, GIVE, {"inputs": None}, manifest=manifest)

        alice = hosting.runner("alice")
        first = await process(alice, more)
        assert await process(alice, more) == first
        assert await process(hosting.runner("alice"), more) != first
        assert await process(alice, Manifest(imports=("os",))) != first

    async def test_gives_a_python_node_no_platform_at_all(self, hosting: SandboxPool) -> None:
        code = "def run():\n    import headgate.sdk"
        with pytest.raises(CodeFailed, match=r"ModuleNotFoundError: No module named 'headgate.sdk'"):
            await hosting.runner("alice").call(code, "run", {})

    async def test_starts_nothing_for_components_where_there_are_none(self) -> None:
        pool = SandboxPool()
        try:
            await pool.runner("alice").call("def run(): return 1", "run", {})
            assert pool._components._launcher is None
        finally:
            await pool.aclose()


class TestReach:
    """What of the platform is loaded beside own code, and what is not."""

    async def test_is_the_sdk_and_what_it_stands_on(self, hosting: SandboxPool) -> None:
        found = await hosting.runner("alice").call_host("", LOADED, {}, manifest=SDK)
        assert isinstance(found, list)
        packages = {".".join(str(name).split(".")[:2]) for name in found}
        assert packages == {"headgate", "headgate.foundation", "headgate.graph", "headgate.sandbox", "headgate.sdk"}
        held_back = ("headgate.foundation.database", "headgate.foundation.crypto")
        assert not [name for name in found if str(name).startswith(held_back)]

    @pytest.mark.parametrize("module", ["features.secrets.service", "foundation.crypto", "sandbox.pool", "entrypoints"])
    async def test_ends_there(self, hosting: SandboxPool, module: str) -> None:
        code = f"def run(inputs):\n    import headgate.{module}"
        with pytest.raises(CodeFailed, match="ModuleNotFoundError"):
            await give(hosting, code)

    async def test_holds_no_setting_of_the_server(self, hosting: SandboxPool, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HEADGATE_SECRET_KEY", "never to be seen")
        code = """
import os
from headgate.foundation.settings import Settings
def run(inputs):
    return [sorted(os.environ), repr(Settings())]
"""
        environment, settings = await give(hosting, code, manifest=Manifest(imports=("headgate", "os")))
        assert environment == ["HOME", "LANG", "PATH", "TMPDIR"]
        assert "never to be seen" not in settings

    async def test_has_no_source_of_the_platform_to_read(self, hosting: SandboxPool) -> None:
        code = """
import headgate.sdk.component as component
def run(inputs):
    return open(component.__file__).read()
"""
        with pytest.raises(CodeFailed, match="PermissionError"):
            await give(hosting, code)

    async def test_has_none_where_the_platform_is_installed_among_other_packages(self, installed: str) -> None:
        code = f"""
import os
def run():
    import neighbour
    refused = []
    for name in ("headgate/__init__.py", "headgate/foundation/crypto.py"):
        try:
            open(os.path.join({installed!r}, name))
        except PermissionError:
            refused.append(name)
    with open("scratch", "w+") as file:
        file.write("x")
    os.remove("scratch")
    return [neighbour.answer, refused]
"""
        pool = SandboxPool(scan=False, limits=LIMITS, import_paths=(*libraries.installed_packages(), installed))
        try:
            found = await pool.runner("alice").call(code, "run", {})
        finally:
            await pool.aclose()
        assert found == [42, ["headgate/__init__.py", "headgate/foundation/crypto.py"]]


class TestImports:
    @pytest.mark.parametrize(
        "statement", ["import email.message", "from email import message", "import email as e", "__import__('email')"]
    )
    async def test_are_those_of_the_manifest(self, hosting: SandboxPool, statement: str) -> None:
        code = f"def run(inputs):\n    {statement}\n    return 'imported'\n"
        with pytest.raises(CodeFailed, match=r"'email.*' cannot be imported.*\(line 2: "):
            await give(hosting, code)
        assert await give(hosting, code, manifest=Manifest(imports=("email",))) == "imported"

    async def test_may_import_what_they_need_themselves(self, hosting: SandboxPool) -> None:
        code = "import mailbox\ndef run(inputs): return mailbox.email.__name__"
        assert await give(hosting, code, manifest=Manifest(imports=("mailbox",))) == "email"

    async def test_are_free_in_a_python_node(self, hosting: SandboxPool) -> None:
        assert (
            await hosting.runner("alice").call("import email\ndef run(): return email.__name__", "run", {}) == "email"
        )


class TestLies:
    """A component that answers with what hurts its reader."""

    @pytest.mark.parametrize(
        ("expression", "words"),
        [
            ("float('nan')", "not JSON"),
            ("[float('inf')]", "not JSON"),
            ("10 ** 40", "64 bits"),
            ("{'a': object()}", "not JSON"),
            ("{1: {('x',): 2}}", "not JSON"),
            ("(lambda x: x.append(x) or x)([])", "not JSON"),
            ("__import__('functools').reduce(lambda x, _: [x], range(600))", "Recursion"),
            ("'\\ud800'", "Unicode"),
            ("__import__('pickle').dumps([])", "bytes"),
        ],
    )
    async def test_is_told_so(self, hosting: SandboxPool, expression: str, words: str) -> None:
        manifest = Manifest(imports=("functools", "pickle"))
        with pytest.raises(CodeFailed, match=words):
            await give(hosting, f"def run(inputs): return {expression}", manifest=manifest)

    @pytest.mark.parametrize("expression", ["'x' * (9 << 20)", "[[]] * 600_000"])
    async def test_is_cut_off_when_it_says_too_much(self, hosting: SandboxPool, expression: str) -> None:
        with pytest.raises(CodeTooBig):
            await give(hosting, f"def run(inputs): return {expression}")

    async def test_collides_with_itself_to_the_last_key(self, hosting: SandboxPool) -> None:
        """`1` and `"1"` are one key in JSON: the reader sees one value."""
        assert await give(hosting, "def run(inputs): return {1: 'a', '1': 'b'}") == {"1": "b"}

    async def test_ends_with_the_time(self, hosting: SandboxPool) -> None:
        code = "import time\ntime.sleep(60)"
        with pytest.raises(CodeTimedOut, match="the component took longer"):
            await hosting.runner("alice").call_host(
                code, GIVE, {}, manifest=Manifest(imports=("time",)), timeout_seconds=0.3
            )


class TestTampering:
    """Own code changes the SDK in its worker: nobody else ever meets that worker."""

    CODE = """
import os
import headgate.sdk as sdk
sdk.Component.template = classmethod(lambda cls, params=None: "changed")
def run(inputs): return [os.getpid(), sdk.Component.template()]
"""

    async def test_reaches_no_other_code_and_no_other_tenant(self, hosting: SandboxPool) -> None:
        manifest = Manifest(imports=("headgate", "os"))
        process, template = await give(hosting, self.CODE, manifest=manifest, tenant="mallory")
        assert template == "changed"
        described = await hosting.runner("mallory").call_host(SHOUT, DESCRIBE, {}, manifest=SDK)
        assert isinstance(described, dict)
        assert described["type"] == "Shout"
        other, _ = await give(hosting, self.CODE, manifest=manifest, tenant="alice")
        assert other != process
