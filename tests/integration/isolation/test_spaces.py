"""Every route, called by every sort of person of one tenant, about a space that some of them see.

What each is told follows from the permission that the route declares and the table of permissions. Who does not see
the space gets, byte for byte, the answer to an id that never was; who sees it and may not gets 403 with the name of
the permission; who may, an answer.
"""

from collections.abc import Callable

import pytest
from fastapi import FastAPI

from tests.integration.isolation.askers import ASKERS, ON_POSTGRES, ON_SQLITE, Answer, Asker, Case, cases, declared_by
from tests.integration.isolation.calls import routes_of
from tests.integration.isolation.rows import digest, rows_of
from tests.integration.isolation.visitors import Tenant, Visitor, calls_of
from tests.integration.isolation.worlds import lost_by

Record = Callable[[str, object], None]
DATABASES = [
    *(
        pytest.param("sqlite", asker, marks=[] if str(asker) in ON_SQLITE else [pytest.mark.campaign])
        for asker in ASKERS
    ),
    *(pytest.param("postgres", asker, marks=pytest.mark.postgres) for asker in ASKERS if str(asker) in ON_POSTGRES),
]
_ORDER = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")


def _what_it_destroys(case: Case) -> tuple[int, int]:
    """Reading first, deleting last, and what holds other things after them."""
    return _ORDER.index(case.route.method), -case.route.path.count("/")


def _requests(app: FastAPI, tenant: Tenant) -> list[Case]:
    found = declared_by(app)
    assert all(found[route.method, route.path] is not None for route in routes_of(app)), "a route declares nothing"
    return sorted(cases(routes_of(app), found, tenant.here), key=_what_it_destroys)


class TestAskers:
    @pytest.mark.parametrize(("settings", "asker"), DATABASES, indirect=["settings"], ids=str)
    async def test_are_told_what_the_table_says(
        self, asker: Asker, app: FastAPI, tenant: Tenant, record_property: Record
    ) -> None:
        every = _requests(app, tenant)
        visitor = await Visitor.arrive(tenant, asker)
        before = digest(await rows_of(tenant.database, tenant.here.principal))
        faults: list[str] = []
        counts = dict.fromkeys(Answer, 0)
        for case in every:
            told, _ = visitor.expected(case)
            if told is not Answer.ALLOWED:
                count, wrong = await visitor.turned_away(case)
                counts[told] += count
                faults += wrong
        after = digest(await rows_of(tenant.database, tenant.here.principal))
        faults += [f"{asker} was refused and changed {name}" for name in before if before[name] != after[name]]
        for case in every:
            if visitor.expected(case)[0] is Answer.ALLOWED:
                counts[Answer.ALLOWED] += 1
                faults += await visitor.let_in(case)
        faults += await lost_by(app, tenant.there)
        assert not faults, "\n".join(faults)
        said = ", ".join(f"{count} {told.name.lower()}" for told, count in counts.items() if count)
        record_property("figures", f"{asker}: {len(every)} kinds of request, {said} ({tenant.database.dialect})")

    async def test_would_be_caught(self, app: FastAPI, tenant: Tenant) -> None:
        """The visitor itself: told what the dweller is told, or let in where they are not, it must say so."""
        every = _requests(app, tenant)
        stranger = await Visitor.arrive(tenant, ASKERS[0])
        reading = next(case for case in every if str(case) == "GET /api/v1/flows/{flow_id}")
        call = next(calls_of(reading, tenant.here))
        assert "shows" in stranger.leak(call, await tenant.here.client.request(**call.arguments()))
        assert "is to be allowed" in (await stranger.let_in(reading))[0]
        admin = Visitor(tenant, next(asker for asker in ASKERS if str(asker) == "an admin"))
        admin.expected = lambda case: (Answer.HIDDEN, case.needs)  # type: ignore[method-assign]
        assert len((await admin.turned_away(reading))[1]) == len(tenant.here.flow_ids)
