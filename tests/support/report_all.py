"""Many items checked in one test, with every failure reported: starting a test takes longer than most such checks."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Item = Callable[[object], AbstractContextManager[None]]


@contextmanager
def report_all() -> Iterator[Item]:
    """Check items one after the other, each in `with item(name):`; what fails is raised at the end.

    Raises:
        AssertionError: No item was checked.
        ExceptionGroup: The exception of each item that failed, with the item's name as a note.
    """
    failures: list[Exception] = []
    names: list[str] = []

    @contextmanager
    def item(name: object) -> Iterator[None]:
        names.append(str(name))
        try:
            yield
        except Exception as failure:  # noqa: BLE001 - of any kind, as a test's own failure is
            failure.add_note(f"in {name}")
            failures.append(failure)

    yield item
    assert names, "no item was checked"
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {len(names)} items failed", failures)
