"""Work that outlives its task: a model answers when the task it was asked about is erased, and its user is back with the same one."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from activities import STEPS
from activities.reflect import reflect
from hindwise.errors import SpaceErased
from hindwise.ledger.schema import drafts
from hindwise.model.episode import Episode
from hindwise.model.reflection import Answer, Complaint
from hindwise.privacy import erase_user
from hindwise.reflect.base import Known
from tests.api.front import Front
from workflows.contracts import ReflectInput, StepInput

RUN = {
    "user_id": "ann",
    "run_id": "r1",
    "goal": "book a seat",
    "turns": [{"role": "user", "content": "Book a window seat"}, {"role": "user", "content": "That is wrong"}],
    "outcome": {"status": "failure", "source": "env", "note": "payment method required"},
}


async def late_answer(front: Front) -> Sequence[Any]:
    """Let a model answer late; return what of its answer is kept. Fails where the step does not say that it was overtaken."""

    class Late:
        """While it thinks, the user is erased and sends the same run again."""

        name, model, prompt_version = "llm", "m", "1"

        async def reflect(self, episode: Episode, known: Known, complaints: Sequence[Complaint] = ()) -> Answer:
            """Take long."""
            asked = await erase_user.request(front.engine, "default", "ann", "test")
            await erase_user.erase(front.engine, asked.id)
            front.engine.clock.advance(seconds=1)  # type: ignore[attr-defined]
            again = await front.post("/v1/episodes", RUN)
            assert again.json()["reflection_id"] == told["reflection_id"]
            return Answer(raw="of the erased one")

    told = (await front.post("/v1/episodes", RUN)).json()
    this = StepInput(reflection_id=told["reflection_id"])
    await STEPS["gather"](front.engine, this)
    try:
        await reflect(front.engine, ReflectInput(reflection_id=this.reflection_id, attempt=1, reflector="llm"), {"llm": Late()})
        raise AssertionError("kept")
    except SpaceErased:
        return await front.engine.ledger.read(lambda conn: conn.execute(select(drafts)).all())
