"""Tasks that take places in turn."""

import asyncio

import pytest

from headgate.foundation.fair_places import NOBODY, FairPlaces, Place, Share, share_of, work_for

ANNA, BOB = Share("tenant", "space", "anna"), Share("other", "space", "bob")


async def waiting(places: FairPlaces, count: int) -> None:
    """Return once that many tasks wait."""
    while places.waiting != count:  # noqa: ASYNC110 - the tasks run on this loop
        await asyncio.sleep(0)


async def take_all(places: FairPlaces, share: Share, count: int) -> list[Place]:
    return [await places.take(share) for _ in range(count)]


class TestPlaces:
    async def test_whoever_waits_is_served_by_what_they_hold(self) -> None:
        places = FairPlaces(2)
        served: list[tuple[str, Place]] = []

        async def work(share: Share) -> None:
            place = await places.take(share)
            served.append((share.user, place))

        held = await take_all(places, ANNA, 2)
        tasks = [asyncio.create_task(work(share)) for share in (ANNA, ANNA, BOB)]
        await waiting(places, 3)
        places.release(held[0])
        while not served:  # noqa: ASYNC110
            await asyncio.sleep(0)
        assert [user for user, _ in served] == ["bob"], "anna holds one still, and asked first"
        places.release(held[1])
        places.release(served[0][1])
        await asyncio.gather(*tasks)
        assert [user for user, _ in served] == ["bob", "anna", "anna"]

    async def test_a_newcomer_needs_not_wait_for_long_work_of_others(self) -> None:
        places = FairPlaces(2, 2)
        await take_all(places, ANNA, 2)
        async with asyncio.timeout(5), places.held(BOB):
            pass

    async def test_a_place_given_up_goes_to_the_next(self) -> None:
        places = FairPlaces(1)
        held = await places.take(ANNA)
        first, second = (asyncio.create_task(places.take(BOB)) for _ in range(2))
        await waiting(places, 2)
        first.cancel()
        await waiting(places, 1)
        places.release(held)
        await second
        third = asyncio.create_task(places.take(BOB))
        await waiting(places, 1)
        places.release(second.result())
        third.cancel()  # it has the place, and was not yet resumed
        await asyncio.gather(third, return_exceptions=True)
        assert await asyncio.wait_for(places.take(ANNA), 5) is not None

    async def test_waiting_ends_after_its_time(self) -> None:
        places = FairPlaces(1)
        await places.take(ANNA)
        with pytest.raises(TimeoutError):
            await places.take(BOB, 0.01)
        assert places.waiting == 0


class TestShares:
    async def test_a_task_works_for_somebody_and_a_tenant_for_itself(self) -> None:
        assert share_of("tenant") == Share("tenant")

        async def inside() -> Share:
            work_for(ANNA)
            return share_of("tenant")

        assert await asyncio.create_task(inside()) == ANNA
        assert share_of("tenant") == Share("tenant")
        assert share_of("") == NOBODY
