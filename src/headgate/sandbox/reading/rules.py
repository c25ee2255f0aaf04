"""What own code may not use: plain data for `scan.py`. Each entry carries what to do instead.

The list is seed 000's (ADR-MCP-040) plus what the operating system refuses anyway, so that people read a sentence
instead of a PermissionError. It is a courtesy, not the wall: the wall is the worker's lockdown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

NETWORK = "The sandbox has no network; fetch with an HTTPRequest or URL component and connect its output to this node."
PROGRAMS = "The sandbox starts no programs; do the work in Python, or in a component made for it."
RUN_FILES = "Read and save files with self.ctx.files; the sandbox has no others."
FILES = "Read files with a ReadFile component and save with SaveFile; this node gets and returns values."
ENVIRONMENT = "Pass the value in as an input; secrets belong in variables, which a field of type SecretStr brings."
NATIVE = "Use the standard library or an installed package instead."
DYNAMIC = "Write the code out, or read data with json.loads or ast.literal_eval."
SERVERS = "Nothing can be served from the sandbox, and no browser is there."
INSIDES = "Work with the values themselves; the interpreter's insides are out of reach."

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
    "headgate": "The platform is not importable from a node; `inputs` holds what the node gets.",
}
"""By full name; what lies below a forbidden module is forbidden with it."""

FORBIDDEN_NAMES: Final = {
    "open": FILES,
    "input": "Nobody sits at the sandbox; take the value from `inputs`.",
    "breakpoint": "There is no debugger in the sandbox; return what you want to see.",
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
"""Members of modules that are otherwise welcome."""

_ATTRIBUTES = """
    __subclasses__ __globals__ __builtins__ __base__ __bases__ __mro__ __code__ __closure__ __getattribute__
    f_globals f_locals f_builtins f_back gi_frame cr_frame tb_frame
"""
FORBIDDEN_ATTRIBUTES: Final = frozenset(_ATTRIBUTES.split())
"""On any object, and as text (for `getattr`)."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What one kind of own code may not use."""

    place: str
    """Where the code runs, for messages."""
    modules: Mapping[str, str]
    names: Mapping[str, str]
    members: Mapping[str, Mapping[str, str]]
    allowed: frozenset[str] = frozenset()
    """Modules that may be used although they lie in a forbidden one."""

    def refusal(self, module: str) -> str | None:
        """The remedy when this module or one it lies in is forbidden."""
        parts = module.split(".")
        names = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
        if self.allowed.intersection(names):
            return None
        return next((self.modules[name] for name in names if name in self.modules), None)


NODE_RULES: Final = Rules("a node", FORBIDDEN_MODULES, FORBIDDEN_NAMES, FORBIDDEN_MEMBERS)
COMPONENT_RULES: Final = Rules(
    "a component",
    {**_EVERYWHERE, **_SERVERS, "headgate": "Import what a component needs from headgate.sdk."},
    {**FORBIDDEN_NAMES, "open": RUN_FILES, "input": "Nobody sits at the sandbox; declare a field."},
    {
        **FORBIDDEN_MEMBERS,
        "io": dict.fromkeys(FORBIDDEN_MEMBERS["io"], RUN_FILES),
        "codecs": dict.fromkeys(FORBIDDEN_MEMBERS["codecs"], RUN_FILES),
    },
    allowed=frozenset({"headgate.sdk"}),
)
