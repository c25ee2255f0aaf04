"""Rules for custom code, as data for `scan.py`. Each entry has an alternative.

The list is that of seed 000 (ADR-MCP-040) plus what the operating system refuses anyway, so that users read a sentence
instead of a PermissionError. It is not the security boundary: that is the worker's confinement.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

NETWORK = "The sandbox has no network; fetch with an HTTPRequest or URL component and connect its output to this node."
PROGRAMS = "The sandbox cannot start programs; do the work in Python, or in a component made for it."
RUN_FILES = "Read and save files with self.ctx.files; the sandbox has no other files."
FILES = "Read files with a ReadFile component and save with SaveFile; this node receives and returns values."
ENVIRONMENT = "Pass the value in as an input; secrets belong in variables, read through a field of type SecretStr."
NATIVE = "Use the standard library or an installed package instead."
DYNAMIC = "Write the code out, or read data with json.loads or ast.literal_eval."
SERVERS = "The sandbox cannot run a server or a browser."
INSIDES = "Work with the values themselves; the interpreter's internals are not accessible."

_EVERYWHERE: Final = {
    **dict.fromkeys(("subprocess", "multiprocessing", "pty", "posix", "nt", "_posixsubprocess"), PROGRAMS),
    **dict.fromkeys(("ctypes", "_ctypes", "cffi"), NATIVE),
    **dict.fromkeys(("builtins", "importlib", "imp", "runpy", "code", "codeop", "pdb", "gc"), DYNAMIC),
}
_SERVERS: Final = dict.fromkeys(("socketserver", "http.server", "xmlrpc.server", "wsgiref", "webbrowser"), SERVERS)
FORBIDDEN_MODULES: Final = {
    **_EVERYWHERE,
    **_SERVERS,
    **dict.fromkeys(
        (
            *("socket", "_socket", "ssl", "http.client", "urllib.request", "ftplib"),
            *("smtplib", "imaplib", "poplib", "nntplib", "telnetlib", "xmlrpc"),
            *("requests", "httpx", "httpx2", "aiohttp", "urllib3", "websockets"),
        ),
        NETWORK,
    ),
    "headgate": "Headgate is not importable from a node; `inputs` contains the node's input.",
}
"""By full name; the rule also applies to submodules."""

FORBIDDEN_NAMES: Final = {
    "open": FILES,
    "input": "The sandbox has no interactive input; take the value from `inputs`.",
    "breakpoint": "There is no debugger in the sandbox; return the values you want to see.",
    **dict.fromkeys(("eval", "exec", "compile", "__import__"), DYNAMIC),
    **dict.fromkeys(("__builtins__", "__loader__", "__spec__"), INSIDES),
}

FORBIDDEN_MEMBERS: Final = {
    "os": {
        **dict.fromkeys(("environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"), ENVIRONMENT),
        **dict.fromkeys(
            (
                *("system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"),
                *("execl", "execle", "execlp", "execlpe", "execv", "execve", "execvp", "execvpe"),
                *("spawnl", "spawnle", "spawnlp", "spawnlpe", "spawnv", "spawnve", "spawnvp", "spawnvpe"),
            ),
            PROGRAMS,
        ),
        **dict.fromkeys(("kill", "killpg", "abort", "_exit"), "Return a value, or raise an exception."),
    },
    "io": {"open": FILES, "FileIO": FILES, "open_code": FILES},
    "codecs": {"open": FILES},
    "sys": {"modules": INSIDES, "_getframe": INSIDES, "settrace": INSIDES, "setprofile": INSIDES},
}
"""Forbidden members of otherwise allowed modules."""

_ATTRIBUTES = """
    __subclasses__ __globals__ __builtins__ __base__ __bases__ __mro__ __code__ __closure__ __getattribute__
    f_globals f_locals f_builtins f_back gi_frame cr_frame tb_frame
"""
FORBIDDEN_ATTRIBUTES: Final = frozenset(_ATTRIBUTES.split())
"""On any object, and as text (for `getattr`)."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Forbidden names of one kind of custom code."""

    place: str
    """Where the code runs, for messages."""
    modules: Mapping[str, str]
    names: Mapping[str, str]
    members: Mapping[str, Mapping[str, str]]
    allowed: frozenset[str] = frozenset()
    """Allowed modules inside a forbidden one."""

    def refusal(self, module: str) -> str | None:
        """Return the remedy when this module or a parent of it is forbidden."""
        parts = module.split(".")
        names = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
        if self.allowed.intersection(names):
            return None
        return next((self.modules[name] for name in names if name in self.modules), None)


NODE_RULES: Final = Rules("a node", FORBIDDEN_MODULES, FORBIDDEN_NAMES, FORBIDDEN_MEMBERS)
COMPONENT_RULES: Final = Rules(
    "a component",
    {**_EVERYWHERE, **_SERVERS, "headgate": "Import what a component needs from headgate.sdk."},
    {**FORBIDDEN_NAMES, "open": RUN_FILES, "input": "The sandbox has no interactive input; declare a field."},
    {
        **FORBIDDEN_MEMBERS,
        "io": dict.fromkeys(FORBIDDEN_MEMBERS["io"], RUN_FILES),
        "codecs": dict.fromkeys(FORBIDDEN_MEMBERS["codecs"], RUN_FILES),
    },
    allowed=frozenset({"headgate.sdk"}),
)
