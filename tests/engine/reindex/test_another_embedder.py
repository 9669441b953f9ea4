"""Started with another embedder or tokeniser: what serves goes on serving by words and says so, and no two vector spaces ever meet."""

from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select, update

from hindwise import engine as engine_module
from hindwise.engine import spec_of
from hindwise.errors import IndexUnavailable
from hindwise.index.document import document_of
from hindwise.index.projection import index_space
from hindwise.index.rebuild import request_where_needed
from hindwise.ledger import generations, outbox
from hindwise.ledger.embeddings import purge_models
from hindwise.ledger.generations import State
from hindwise.ledger.memories import from_row
from hindwise.ledger.schema import embeddings, memories
from hindwise.recall.recall import Recaller
from hindwise.recall.survey import MAX_UNAPPLIED
from hindwise.testing import HashedEmbedder
from tests.engine.recall.helpers import TENANT, apply_outbox, ask, conclusions, fact, keep
from tests.engine.reindex.helpers import drafts, fill, furnish, house, live, rebuild_of, switch, wanted

KEY, ZH_KEY = "The spare key lies under the flowerpot", "备用钥匙在花盆下面"


class Mirrored(HashedEmbedder):
    """Another model of the same length, in whose vectors everything points the other way."""

    def __init__(self) -> None:
        super().__init__()
        self.model = "mirrored-64"

    async def passages(self, texts):
        """The opposite of each."""
        return [None if vector is None else (-vector).astype(np.float32) for vector in await super().passages(texts)]

    async def query(self, text: str):
        """The opposite too."""
        vector = await super().query(text)
        return None if vector is None else (-vector).astype(np.float32)


async def _needed(engine):
    return await request_where_needed(engine.ledger, spec_of(engine.embedder), engine.clock.now())


async def _move(engine):
    """What a worker does from the request to the end."""
    asked = await _needed(engine)
    await rebuild_of(engine).begin(asked.no)
    await fill(engine, asked.no)
    await switch(engine, asked.no)
    await engine.ledger.write(lambda conn: generations.settle(conn, asked.no))
    return asked


@pytest.mark.parametrize("text", ["where is the spare key", "备用钥匙在哪里"])
async def test_with_another_embedder_words_serve_and_say_so_until_the_new_index_does(tmp_path: Path, text: str) -> None:
    """Also what is written meanwhile is found by the next recall, with and without a dispatcher."""
    expected = KEY if "key" in text else ZH_KEY
    async with house(tmp_path) as engine:
        await keep(engine, "user:ann", fact(KEY), fact(ZH_KEY), *drafts(12))
        await apply_outbox(engine)
        assert await _needed(engine) is None
    async with house(tmp_path, Mirrored()) as engine:
        recaller = Recaller(engine)
        answer = await ask(recaller, text, user="ann")
        assert (answer.degraded, list(conclusions(answer))[:1]) == (True, [expected])
        assert engine.embedder.asked == [], "a vector that can be compared with nothing is not even asked for"
        await keep(engine, "user:ann", fact("The blue bicycle stands in the cellar"))
        for _ in range(2):
            assert "The blue bicycle stands in the cellar" in conclusions(await ask(recaller, "where is the blue bicycle", user="ann"))
            await apply_outbox(engine)
        assert "by words alone" in live(engine).note
        asked = await _move(engine)
        assert live(engine).note == ""
        assert (asked.model, live(engine).generation.no) == ("mirrored-64", asked.no)
        answer = await ask(recaller, text, user="ann")
        assert (answer.degraded, list(conclusions(answer))[:1]) == (False, [expected])
        assert await _needed(engine) is None
        await recaller.close()


@pytest.mark.parametrize("begun", [False, True], ids=["asked for", "begun"])
async def test_a_move_that_was_asked_for_serves_a_new_embedder_too(tmp_path: Path, begun: bool) -> None:
    """Asked to move before the embedder changed: there is one build, which the worker starts, and none that is refused beside it."""
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 5)
        asked = await engine.ledger.write(lambda conn: generations.request(conn, "weaviate", engine.clock.now()))
    async with house(tmp_path, Mirrored()) as engine:
        if begun:
            await engine.ledger.write(lambda conn: generations.begin(conn, asked.no, spec_of(engine.embedder)))
        found = await _needed(engine)
        assert (found.no, found.kind) == (asked.no, "weaviate")
        assert [build.generation.no for build in await engine.ledger.read(generations.open_builds)] == [asked.no]


async def test_what_was_written_by_words_alone_is_made_whole_when_the_old_embedder_comes_back(tmp_path: Path) -> None:
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 5)
    async with house(tmp_path, Mirrored()) as engine:
        await keep(engine, "user:ann", fact(KEY))
        await apply_outbox(engine)
    async with house(tmp_path) as engine:
        assert live(engine).generation.holes
        asked = await _move(engine)
        assert asked.model == HashedEmbedder().model
        assert not live(engine).generation.holes
        recaller = Recaller(engine)
        assert KEY in conclusions(await ask(recaller, "where is the spare key", user="ann"))
        await recaller.close()


async def test_a_process_that_was_left_behind_writes_no_vector_into_the_new_index(tmp_path: Path) -> None:
    """It leaves that to those that have the new embedder, and answers by words."""
    async with house(tmp_path) as behind:
        await furnish(behind, ["user:ann"], 5)
        async with house(tmp_path, Mirrored()) as engine:
            await _move(engine)
            await live(behind).refresh()
            assert live(behind).outdated
            await keep(behind, "user:ann", fact(KEY))
            assert await behind.projection.one_space() is None
            assert await behind.ledger.read(outbox.space_numbers) != []
            recaller = Recaller(behind)
            answer = await ask(recaller, "where is the spare key", user="ann")
            assert (answer.degraded, KEY in conclusions(answer)) == (True, True)
            await recaller.close()
            await apply_outbox(engine)
            assert await behind.ledger.read(outbox.space_numbers) == []
            assert not (await engine.ledger.read(generations.kept))[-1].holes


async def test_a_build_is_left_to_those_that_have_its_embedder(tmp_path: Path) -> None:
    """While it runs, others take off no marks that it would miss."""
    async with house(tmp_path) as behind:
        await furnish(behind, ["user:ann"], 5)
        async with house(tmp_path, Mirrored()) as engine:
            asked = await _needed(engine)
            await rebuild_of(engine).begin(asked.no)
            await keep(behind, "user:ann", fact(KEY))
            assert await behind.projection.one_space() is None
            assert await engine.projection.one_space() == 1


async def test_a_request_for_yet_another_embedder_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 3)
    async with house(tmp_path, Mirrored()) as engine:
        first = await _needed(engine)
        assert (await _needed(engine)).no == first.no
    async with house(tmp_path, HashedEmbedder(32)) as engine:
        second = await _needed(engine)
        assert (second.no > first.no, second.dim) == (True, 32)
        state = await engine.ledger.read(lambda conn: generations.build_of(conn, first.no).generation.state)
        assert state == State.ABANDONED


async def test_with_nothing_remembered_another_embedder_simply_begins(tmp_path: Path) -> None:
    async with house(tmp_path) as engine:
        assert live(engine).generation.model == "hashed-64"
    async with house(tmp_path, Mirrored()) as engine:
        assert (live(engine).generation.model, live(engine).words_only, await _needed(engine)) == ("mirrored-64", False, None)


async def test_another_tokeniser_is_another_generation_and_the_ledgers_words_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Meaning is compared all the while: the vectors are the same."""
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 6)
        await engine.ledger.write(lambda conn: conn.execute(update(memories).values(lex="as an older tokeniser had it")))
    monkeypatch.setattr(engine_module, "TOKENIZER_VERSION", engine_module.TOKENIZER_VERSION + 1)
    async with house(tmp_path) as engine:
        assert not live(engine).words_only
        asked = await _needed(engine)
        assert asked is not None
        await rebuild_of(engine).begin(asked.no)
        await fill(engine, asked.no)
        await switch(engine, asked.no)
        rows = await engine.ledger.read(lambda conn: conn.execute(select(memories)).all())
        assert [row.lex for row in rows] == [" ".join(document_of(from_row(row)).tokens) for row in rows]


async def test_a_lost_index_is_answered_for_by_the_ledger_until_it_is_filled_again(tmp_path: Path) -> None:
    """A recall reads so many marks past the index; where there are more, the ledger answers alone and says so."""
    async with house(tmp_path) as engine:
        await keep(engine, "user:ann", fact(KEY), *(fact(f"The archive box {n} stands in row {n}") for n in range(MAX_UNAPPLIED + 5)))
        await apply_outbox(engine)
    for file in tmp_path.glob("index-*"):
        file.unlink()
    async with house(tmp_path) as engine:
        recaller = Recaller(engine)
        answer = await ask(recaller, "where is the spare key", user="ann")
        assert (answer.degraded, list(conclusions(answer))[:1]) == (True, [KEY])
        await apply_outbox(engine)
        answer = await ask(recaller, "where is the spare key", user="ann")
        assert (answer.degraded, list(conclusions(answer))[:1]) == (False, [KEY])
        await recaller.close()


async def test_what_is_lost_after_it_took_over_is_filled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was opened while it was being built; and of the one before nobody wants anything any more."""
    told = {}
    opens = engine_module.open_index

    async def opening(settings, kind, number, *given, **more):
        told[number] = more["before_making"]
        return await opens(settings, kind, number, *given, **more)

    monkeypatch.setattr(engine_module, "open_index", opening)
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 5)
        old, new = live(engine).generation, await wanted(engine)
        await fill(engine, new.no)
        await switch(engine, new.no)
        with pytest.raises(IndexUnavailable, match="drop-old"):
            await told[old.no]()
        assert await engine.ledger.read(outbox.depth) == (0, None)
        await told[new.no]()
        assert (await engine.ledger.read(outbox.depth))[0] == 5


async def test_a_filling_that_was_cut_short_is_begun_again_although_something_is_there(tmp_path: Path) -> None:
    """Killed while it marked: what was not marked yet would be missing, and no answer would say so."""
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann", "user:bo"], 5)
        number = live(engine).generation.no
        assert await engine.ledger.write(lambda conn: generations.begin_refill(conn, number))
        await engine.index.drop(index_space(TENANT, "user:bo"))
    async with house(tmp_path) as engine:
        assert (await engine.ledger.read(outbox.depth))[0] == 10
        await apply_outbox(engine)
        assert len(await engine.index.ids(index_space(TENANT, "user:bo"))) == 5
    async with house(tmp_path) as engine:
        assert await engine.ledger.read(outbox.depth) == (0, None), "and once is enough"


async def test_vectors_of_models_that_no_index_is_made_with_are_removed(tmp_path: Path) -> None:
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 4)
    async with house(tmp_path, Mirrored()) as engine:
        await _move(engine)

        def models(conn):
            return set(conn.execute(select(embeddings.c.model)).scalars())

        assert await engine.ledger.read(models) == {"hashed-64", "mirrored-64"}
        kept = await engine.ledger.read(generations.models_in_use)
        assert await engine.ledger.write(lambda conn: purge_models(conn, kept, 100)) == 0
        for old in await engine.ledger.read(generations.droppable):
            await engine.ledger.write(lambda conn, no=old.no: generations.set_dropped(conn, no))
        kept = await engine.ledger.read(generations.models_in_use)
        assert await engine.ledger.write(lambda conn: purge_models(conn, kept, 100)) == 4
        assert await engine.ledger.read(models) == {"mirrored-64"}
