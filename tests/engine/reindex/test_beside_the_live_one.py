"""A new generation beside the live one: what changes meanwhile reaches both, what is erased is gone from all, nothing is missed."""

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import Connection, select, update

from hindwise.errors import NotAllowed
from hindwise.index.projection import index_space
from hindwise.ledger import generations, memory_erasure, outbox
from hindwise.ledger.memories import from_row
from hindwise.ledger.schema import memories, spaces
from hindwise.ledger.schema import outbox as outbox_rows
from hindwise.recall.recall import Recaller
from hindwise.recall.remember import forget
from hindwise.recall.sameness import Comparison
from hindwise.testing import HashedEmbedder
from tests.engine.recall.helpers import TENANT, apply_outbox, ask, conclusions, fact, ids, keep
from tests.engine.reindex.helpers import drafts, fill, furnish, house, ids_in, live, questions, rebuild_of, switch, wanted
from tests.looking import ids_everywhere

SPACES = ("user:ann", "user:bo", "agent:desk")


async def _first_five(engine, asked):
    recaller = Recaller(engine)
    try:
        return [ids(await ask(recaller, text, user="ann", limit=5)) for text in asked]
    finally:
        await recaller.close()


async def test_a_new_generation_holds_the_same_and_answers_the_same(tmp_path: Path) -> None:
    """Ids, counts, and the first five memories of a recall."""
    async with house(tmp_path) as engine:
        await furnish(engine, SPACES, 40)
        before = await _first_five(engine, questions(40))
        new = await wanted(engine)
        assert await fill(engine, new.no) == 120
        for space in SPACES:
            assert await ids_in(engine, new, space) == await engine.index.ids(index_space(TENANT, space))
        checked = await rebuild_of(engine).check(new.no, 0, 50)
        assert (checked.spaces, checked.memories, checked.missing, checked.removed, checked.end) == (3, 120, 0, 0, True)
        compared = await Comparison(engine.ledger, live(engine), engine.embedder).compare(new.no, 30)
        assert compared.alike
        assert compared.same == compared.asked > 0
        await switch(engine, new.no)
        assert live(engine).generation.no == new.no
        assert await _first_five(engine, questions(40)) == before
        build = await engine.ledger.read(lambda conn: generations.build_of(conn, new.no))
        assert (build.done, build.total) == (120, 120)


async def test_what_is_written_taken_back_and_erased_during_a_build_is_so_in_both(tmp_path: Path) -> None:
    """Before its page, after its page, and while nobody has noticed yet that something is being built."""
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 80)
        early = await keep(engine, "user:ann", fact("The spare key lies under the flowerpot"))
        new = await wanted(engine)
        rebuild = rebuild_of(engine)
        await rebuild.fill(new.no)
        written = await keep(engine, "user:ann", *drafts(20, seed=5000), fact("备用钥匙在花盆下面"))
        await forget(engine, TENANT, early[0])
        await apply_outbox(engine)
        await fill(engine, new.no)
        later = await keep(engine, "user:new", fact("Travels with a dog"))
        await apply_outbox(engine)
        old = generations.live_of(await engine.ledger.read(generations.kept))
        for space, expected in (("user:ann", set(written)), ("user:new", set(later))):
            assert await ids_in(engine, new, space) == await ids_in(engine, old, space) >= expected
        assert early[0] not in await ids_in(engine, new, "user:ann")
        assert (await rebuild.check(new.no, 0, 50)).missing == 0


async def test_a_change_under_way_when_a_build_begins_reaches_it_all_the_same(tmp_path: Path) -> None:
    """Its mark is taken off only after one more round."""

    class Slow(HashedEmbedder):
        """During whose work something happens."""

        happens = None

        async def passages(self, texts):
            if self.happens:
                happens, self.happens = self.happens, None
                await happens()
            return await super().passages(texts)

    slow = Slow()
    async with house(tmp_path, slow) as engine:
        await furnish(engine, ["user:ann"], 5)
        [made] = await keep(engine, "user:ann", fact("The spare key lies under the flowerpot"))
        await engine.ledger.write(lambda conn: conn.exec_driver_sql("DELETE FROM embeddings"))
        begun = []

        async def begin() -> None:
            begun.append(await wanted(engine))

        slow.happens = begin
        await apply_outbox(engine)
        assert made in await ids_in(engine, begun[0], "user:ann")
        assert await engine.ledger.read(outbox.space_numbers) == []


async def test_another_process_notices_the_switch_and_until_then_finds_what_is_new(tmp_path: Path) -> None:
    """The one before gets every change until it is settled, so whoever still asks it misses nothing."""
    async with house(tmp_path) as engine, house(tmp_path) as other:
        await furnish(engine, ["user:ann"], 30)
        new = await wanted(engine)
        await fill(engine, new.no)
        await switch(engine, new.no)
        assert live(other).generation.no != new.no
        await keep(engine, "user:ann", fact("The spare key lies under the flowerpot"))
        await apply_outbox(engine)
        recaller = Recaller(other)
        assert "The spare key lies under the flowerpot" in conclusions(await ask(recaller, "where is the spare key", user="ann"))
        async with asyncio.timeout(5):
            while live(other).generation.no != new.no:
                await asyncio.sleep(0.05)
        answer = await ask(recaller, "where is the spare key", user="ann")
        assert (answer.degraded, "The spare key lies under the flowerpot" in conclusions(answer)) == (False, True)
        await recaller.close()


async def test_calls_in_flight_do_not_fail_by_a_switch(tmp_path: Path) -> None:
    """Recalls one after the other while generations follow each other."""
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 60)
        recaller, over, answers = Recaller(engine), asyncio.Event(), []

        async def recall() -> None:
            while not over.is_set():
                answers.append(await ask(recaller, "which train is late at desk 3", user="ann"))

        asking = [asyncio.create_task(recall()) for _ in range(3)]
        for _ in range(3):
            new = await wanted(engine)
            await fill(engine, new.no)
            await switch(engine, new.no)
            await engine.ledger.write(lambda conn, no=new.no: generations.settle(conn, no))
        over.set()
        await asyncio.gather(*asking)
        assert len(answers) > 3
        assert {answer.degraded for answer in answers} == {False}
        assert {tuple(ids(answer)) for answer in answers} == {tuple(ids(answers[0]))}
        await recaller.close()


async def test_what_is_erased_later_is_gone_from_the_kept_one_too(tmp_path: Path) -> None:
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 10)
        [made] = await keep(engine, "user:ann", fact("The spare key lies under the flowerpot"))
        await apply_outbox(engine)
        old = generations.live_of(await engine.ledger.read(generations.kept))
        new = await wanted(engine)
        await fill(engine, new.no)
        await switch(engine, new.no)
        await engine.ledger.write(lambda conn: generations.settle(conn, new.no))
        await live(engine).refresh()
        # Without the direct way of `forget`, which the mark makes up for.
        await engine.ledger.write(lambda conn: memory_erasure.erase(conn, TENANT, made, engine.clock.now()))
        assert made in await ids_in(engine, old, "user:ann")
        await apply_outbox(engine)
        assert made not in await ids_everywhere(engine, index_space(TENANT, "user:ann"))
        later = await keep(engine, "user:ann", fact("Travels with a dog"))
        await apply_outbox(engine)
        assert later[0] not in await ids_in(engine, old, "user:ann"), "but nothing new goes there"


async def test_a_space_erased_while_its_page_is_written_leaves_nothing_in_the_new_one(tmp_path: Path) -> None:
    """What an erasure does first is raise the epoch; what was in flight is taken out again."""

    class Racing(HashedEmbedder):
        """Erases while vectors are computed."""

        engine = None

        async def passages(self, texts):
            if self.engine:
                engine, self.engine = self.engine, None
                await engine.ledger.write(_erase)
            return await super().passages(texts)

    racing = Racing()
    async with house(tmp_path, racing) as engine:
        await furnish(engine, ["user:ann", "user:bo"], 10)
        new = await wanted(engine)
        await engine.ledger.write(lambda conn: conn.exec_driver_sql("DELETE FROM embeddings"))
        racing.engine = engine
        await fill(engine, new.no)
        assert await ids_in(engine, new, "user:ann") == set()
        assert len(await ids_in(engine, new, "user:bo")) == 10
        left = await engine.ledger.read(lambda conn: conn.exec_driver_sql("SELECT DISTINCT space_no FROM embeddings").scalars().all())
        assert len(left) == 1
        assert 1 not in left


def _erase(conn: Connection) -> None:
    conn.execute(update(spaces).where(spaces.c.no == 1).values(epoch=spaces.c.epoch + 1))
    conn.execute(memories.delete().where(memories.c.space_no == 1))
    conn.execute(outbox_rows.delete().where(outbox_rows.c.space_no == 1))


async def test_a_build_goes_on_where_another_process_left_it(tmp_path: Path) -> None:
    """Nothing is written twice but the page that was not noted."""
    async with house(tmp_path) as engine:
        await furnish(engine, SPACES, 50)
        new = await wanted(engine)
        first = await rebuild_of(engine).fill(new.no)
        assert 0 < first.written < 150
    async with house(tmp_path) as engine:
        build = await rebuild_of(engine).begin(new.no)
        assert build.done == first.written
        assert await fill(engine, new.no) == 150 - first.written
        assert (await rebuild_of(engine).check(new.no, 0, 50)).missing == 0


async def test_what_the_new_one_lacks_or_holds_too_much_is_found_before_it_serves(tmp_path: Path) -> None:
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 20)
        new = await wanted(engine)
        await fill(engine, new.no)
        index, space = await live(engine).opened(new), index_space(TENANT, "user:ann")
        some = sorted(await index.ids(space))
        await index.delete(space, some[:2])
        [ghost] = await engine.projection.items(
            outbox.Lease(1, "user:ann", TENANT, 0, 0), [(await _any(engine)).model_copy(update={"id": "ghost"})]
        )
        await index.upsert([ghost])
        checked = await rebuild_of(engine).check(new.no, 0, 50)
        assert (checked.missing, checked.removed) == (2, 1)
        await engine.ledger.write(lambda conn: generations.restart(conn, new.no))
        await fill(engine, new.no)
        checked = await rebuild_of(engine).check(new.no, 0, 50)
        assert (checked.missing, checked.removed) == (0, 0)


async def test_a_space_erased_while_it_is_held_by_another_is_not_waited_for(tmp_path: Path) -> None:
    """Where it differs it is looked at under its lease; of a space that is gone nobody ever gives one."""
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann", "user:bo"], 10)
        new = await wanted(engine)
        await fill(engine, new.no)
        index = await live(engine).opened(new)
        await index.drop(index_space(TENANT, "user:ann"))
        assert await engine.ledger.write(lambda conn: outbox.lease_named(conn, "another", engine.clock.now(), 60, 1))
        checking = asyncio.create_task(rebuild_of(engine).check(new.no, 0, 50))
        await asyncio.sleep(0.5)
        assert not checking.done()
        await engine.ledger.write(lambda conn: [_erase(conn), conn.execute(spaces.delete().where(spaces.c.no == 1))])
        async with asyncio.timeout(10):
            checked = await checking
        assert (checked.memories, checked.missing, checked.removed, checked.end) == (10, 0, 0, True)


async def _any(engine):
    return await engine.ledger.read(lambda conn: from_row(conn.execute(select(memories).limit(1)).one()))


async def test_a_build_given_up_gets_nothing_more_and_leaves_the_live_one_alone(tmp_path: Path) -> None:
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 10)
        serving = live(engine).generation.no
        new = await wanted(engine)
        assert await engine.ledger.write(lambda conn: generations.abandon(conn, new.no, "by a test"))
        assert (await rebuild_of(engine).fill(new.no)).gone
        assert not await engine.ledger.write(lambda conn: generations.switch(conn, new.no, {}, engine.clock.now()))
        await keep(engine, "user:ann", fact("Travels with a dog"))
        await apply_outbox(engine)
        assert live(engine).generation.no == serving
        assert await ids_in(engine, new, "user:ann") == set()


async def test_one_build_at_a_time_and_asked_for_twice_it_is_the_same(tmp_path: Path) -> None:
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 3)
        asked = [(await wanted(engine)).no for _ in range(2)]
        assert len(set(asked)) == 1
        with pytest.raises(NotAllowed, match="is being built"):
            await wanted(engine, "weaviate")


async def test_draining_that_nobody_ended_is_found_after_a_while(tmp_path: Path) -> None:
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 3)
        new = await wanted(engine)
        await fill(engine, new.no)
        now = engine.clock.now()
        assert await engine.ledger.read(lambda conn: generations.overdue(conn, now)) is None
        await switch(engine, new.no)
        later = engine.clock.now()
        assert await engine.ledger.read(lambda conn: generations.overdue(conn, now)) is None
        assert await engine.ledger.read(lambda conn: generations.overdue(conn, later)) == new.no
        await engine.ledger.write(lambda conn: generations.settle(conn, new.no))
        assert await engine.ledger.read(lambda conn: generations.overdue(conn, later)) is None
