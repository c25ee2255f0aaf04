"""Files that workers may read: the standard library, installed packages and shared libraries."""

import json
import os
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

SYSTEM = (
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/lib",
    "/lib64",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/dev/urandom",
)
"""Shared libraries, time zones and randomness; missing files are skipped."""

LIBRARY_PATH = "LD_LIBRARY_PATH"
"""Required by some interpreters at start-up."""

DEVICES = ("/dev/null", "/dev/zero")

LANGUAGE_DATA_VARIABLE = "TESSDATA_PREFIX"
"""Tesseract's own variable for the folder of its language data."""
_LANGUAGE_DATA = (
    *("/usr/share/tesseract-ocr/5/tessdata", "/usr/share/tesseract-ocr/4.00/tessdata", "/usr/share/tessdata"),
    *("/usr/share/tesseract/tessdata", "/usr/local/share/tessdata", "/opt/homebrew/share/tessdata"),
)
LANGUAGE_DATA_SUFFIX = ".traineddata"

_PRELOAD = """
    base64 bisect calendar collections copy csv dataclasses datetime decimal difflib enum fractions functools hashlib
    heapq html io itertools math operator random re statistics string textwrap threading time typing unicodedata
    urllib.parse uuid zoneinfo
"""
PRELOAD = tuple(_PRELOAD.split())
"""Modules that custom code imports most, loaded once by the zygote."""

WEB = ("http.client", "ssl", "urllib.request")
"""Loaded for code that may connect to hosts."""
CERTIFICATES = (
    *("/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/usr/lib/ssl", "/etc/pki/tls/certs"),
    *("/etc/pki/ca-trust/extracted", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates"),
    "/etc/ca-certificates",
)
"""System locations of certificate authorities, including link targets."""
CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables of the operator's locations (OpenSSL's own)."""

_ISOLATED = {
    "documents": "document page recognised picture marks",
    "functions": "table_query selection field matches condition schema_problems",
    "formats": "sheet feed sitemap html_elements xml_values xml_data archive_entries archive_members calendar_events "
    "image chart mails",
    "notifications": "notification",
    "descriptions": "api_description",
    "databases": "database_file",
    "code": "code_sections",
}
ISOLATED = tuple(
    f"headgate.components.isolated.{module}:{name}" for module, names in _ISOLATED.items() for name in names.split()
)
"""Headgate's functions for external content; named here, so that a start does not import them."""
HOSTS = ("headgate.sdk.hosting:describe", "headgate.sdk.hosting:produce")
"""Headgate's functions for a component's code."""


_SAMPLE = """
from typing import ClassVar
from headgate.sdk import Component, Data, Text, field, output

class Sample(Component):
    '''Stands in for a component.'''

    hosts: ClassVar[tuple[str, ...]] = ()
    text: Text = field(label="Text")
    number: int = field(default=1, label="Number", ge=0)

    @output()
    def first(self) -> Text:
        return self.text

    @output()
    async def second(self) -> Data:
        return {"text": self.text, "number": self.number}
"""
_SAMPLE_CALL = {"values": {"text": {"json": "sample"}, "number": {"json": 2}}, "outputs": ["first", "second"]}
REHEARSAL = json.dumps(
    [
        {"id": 1, "host": HOSTS[0], "arguments": {}, "code": _SAMPLE, "imports": ["headgate", "typing"]},
        {"id": 2, "host": HOSTS[1], "arguments": _SAMPLE_CALL},
    ]
)
"""Warm-up of a worker before its first request."""


@dataclass(frozen=True, slots=True)
class Kit:
    """Modules and functions that a zygote's workers have loaded."""

    preload: tuple[str, ...] = PRELOAD
    hosts: tuple[str, ...] = ()
    """Trusted functions that may be called for custom code, as `module:function`."""
    rehearsal: str = "[]"
    """Warm-up requests that each worker executes, as a JSON list."""
    network: bool = False
    """Whether its code may request connections."""


def certificate_variables() -> dict[str, str]:
    """Return the certificate variables that the operator set."""
    return {name: os.environ[name] for name in CERTIFICATE_VARIABLES if os.environ.get(name)}


def language_data() -> Path | None:
    """Return the folder with language data for text recognition: the operator's, or the first of the system."""
    own = os.environ.get(LANGUAGE_DATA_VARIABLE)
    folders = (Path(own), Path(own, "tessdata")) if own else map(Path, _LANGUAGE_DATA)
    return next((folder for folder in folders if any(folder.glob(f"*{LANGUAGE_DATA_SUFFIX}"))), None)


def platform_folder() -> str:
    """Return the folder of Headgate's packages."""
    return str(Path(__file__).resolve().parents[2])


def installed_packages() -> tuple[str, ...]:
    """Return the folders of the installed packages."""
    return tuple(dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib")))


def readable_paths(import_paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return everything that a worker may read, for its import folders."""
    standard = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), str(Path(sys.base_prefix, "lib")))
    loaded = (path for path in os.environ.get(LIBRARY_PATH, "").split(":") if path)
    languages = (str(folder),) if (folder := language_data()) else ()
    return tuple(dict.fromkeys((*standard, *SYSTEM, *languages, *loaded, *import_paths)))


def environment() -> dict[str, str]:
    """Return the zygote's environment: only the paths to the interpreter's libraries.

    One memory arena: each further one would take 64 MB of a worker's address space, and every thread requests one.
    """
    inherited = {name: os.environ[name] for name in (LIBRARY_PATH,) if name in os.environ}
    return {"MALLOC_ARENA_MAX": "1"} | inherited
