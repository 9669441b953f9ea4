"""A build that is given up while it is held against the ledger: it ends, stays what it was called, and nothing of it is made again."""

from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError

from activities.reindex import reindex_check, reindex_compare, reindex_park
from hindwise.cli import reindex
from hindwise.cli.exits import Ended
from hindwise.errors import NotFound
from hindwise.index.factory import remove_index
from hindwise.ledger import generations
from hindwise.ledger.generations import Build
from tests.engine.recall.helpers import apply_outbox, fact, keep
from tests.engine.reindex.helpers import fill, furnish, house, switch, wanted
from tests.workflows.stage import Stage
from workflows.contracts import CheckInput, CheckResult, GenerationInput, ReindexParkInput

pytestmark = pytest.mark.asyncio(loop_scope="session")


def _gone() -> ApplicationError:
    return ApplicationError("No such thing.", type="not-found", non_retryable=True)


@pytest.mark.parametrize("step", ["reindex_check", "reindex_compare"])
async def test_a_step_that_finds_it_given_up_ends_the_build(stage: Stage, step: str) -> None:
    stage.on(step, _gone())
    async with stage.workers():
        assert (await (await stage.reindex()).result()).status == "abandoned"
    assert not {"reindex_park", "reindex_switch"} & set(stage.steps())


async def test_what_lacks_something_because_it_was_given_up_waits_for_nobody(stage: Stage) -> None:
    """Since then it gets no changes, so it differs; and its row takes no answer any more."""
    stage.on("reindex_check", CheckResult(spaces=3, memories=90, missing=2))
    stage.on("reindex_park", _gone())
    async with stage.workers():
        assert (await (await stage.reindex()).result()).status == "abandoned"


async def test_its_row_goes_on_saying_who_gave_it_up_and_its_file_is_not_made_again(tmp_path: Path) -> None:
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 5)
        made = await wanted(engine)
        await fill(engine, made.no)
        await engine.ledger.write(lambda conn: generations.abandon(conn, made.no, "given up by a person"))
        await keep(engine, "user:ann", fact("Likes the window 喜欢靠窗"))
        await apply_outbox(engine)

        this = GenerationInput(generation=made.no)
        await remove_index(engine.settings, made.kind, made.no, engine.secret)
        await engine.ledger.write(lambda conn: generations.set_dropped(conn, made.no))
    async with house(tmp_path) as engine:
        for step, message in (
            (reindex_check, CheckInput(generation=made.no)),
            (reindex_compare, this),
            (reindex_park, ReindexParkInput(generation=made.no, cause="differs", detail="It lacks one.")),
        ):
            with pytest.raises(NotFound):
                await step(engine, message)
        build = await engine.ledger.read(lambda conn: generations.build_of(conn, made.no))
        assert (build.phase, build.note) == ("abandoned", "given up by a person")
    assert not list(tmp_path.glob(f"index-{made.no}.db*"))


async def test_one_that_came_to_serve_in_this_moment_is_not_called_given_up(tmp_path: Path) -> None:
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 2)
        made = await wanted(engine)

        async def looked_at() -> Build:
            return await engine.ledger.read(lambda conn: generations.build_of(conn, made.no))

        seen = await looked_at()
        await switch(engine, made.no)
        with pytest.raises(Ended, match="nothing was given up"):
            await reindex._cancel(engine.settings, engine.ledger, seen, as_json=False)
        await engine.ledger.write(lambda conn: generations.release(conn, made.no))
        assert ((await looked_at()).generation.state, (await looked_at()).phase) == ("live", "drain")
