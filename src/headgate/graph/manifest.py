"""Manifest of custom code: its access, derived from the code, shown to users, enforced by the sandbox."""

from dataclasses import asdict, dataclass

from headgate.foundation.errors import JsonValue


@dataclass(frozen=True, slots=True)
class Manifest:
    """Access of one piece of code. The default is none."""

    imports: tuple[str, ...] = ()
    """Top-level modules that it imports, sorted."""
    hosts: tuple[str, ...] = ()
    """Hosts that it may connect to, lower-case, sorted; the operator must allow them as well."""
    files: bool = False
    """Whether it reads files of the run or creates files."""

    def as_json(self) -> dict[str, JsonValue]:
        """Return the stored and displayed form."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


NOTHING = Manifest()
