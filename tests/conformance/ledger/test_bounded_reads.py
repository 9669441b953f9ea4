"""What is read to settle or to tell a memory stays small, however much was kept."""

from sqlalchemy import insert

from hindwise.ledger import intake, memories, memory_changes
from hindwise.ledger.schema import evidence
from hindwise.model.memory import Status
from tests.build import NOON, TENANT, make_episode, make_evidence, make_memory
from tests.conformance.ledger.conftest import RULES


async def test_evidence_is_cut_in_the_database_and_what_was_withdrawn_takes_no_place(ledger, space_no):
    def write(conn):
        for memory_id in ("m1", "m2"):
            shown = make_memory(id=memory_id, attribute=memory_id, evidence=(make_evidence("e0"),))
            memory_changes.insert_memory(conn, space_no, shown, actor="test", why="set up")
        row = {"memory_id": "m1", "reflection_id": "r", "seq": 1, "turn_id": "t", "quote": "说过"}
        conn.execute(insert(evidence), [{**row, "ordinal": n, "episode_id": f"e{n}"} for n in range(1, 101)])
        conn.execute(evidence.update().where(evidence.c.ordinal.between(1, 30)).values(withdrawn_at=make_memory().recorded_at))

    await ledger.write(write)
    found = await ledger.read(lambda conn: memories.evidence_of(conn, ["m1", "m2"]))
    assert [item.episode_id for item in found["m1"]] == ["e0", *(f"e{n}" for n in range(31, 50))]
    assert len(found["m2"]) == 1
    rows = await ledger.read(lambda conn: conn.execute(memories._EVIDENCE, {"ids": ["m1", "m2"]}).all())
    assert len(rows) == 21


async def test_of_a_long_slot_the_head_and_the_newest_versions_are_read(ledger, space_no):
    def write(conn):
        for version in range(1, 251):
            kept = make_memory(
                f"Prefers seat {version}",
                id=f"m{version}",
                version=version,
                head=version == 3,
                status=Status.ACTIVE if version == 3 else Status.SUPERSEDED,
            )
            memory_changes.insert_memory(conn, space_no, kept, actor="test", why="set up")

    await ledger.write(write)
    key = memory_changes.slot_key(make_memory())
    slot = await ledger.read(lambda conn: memories.in_slot(conn, space_no, key))
    assert [memory.version for memory in slot] == [3, *range(52, 251)]
    assert {memory.tenant_id for memory in slot} == {TENANT}


async def test_a_quote_of_a_task_that_named_no_user_is_shown_to_no_reader(ledger, space_no):
    def write(conn):
        episode = make_episode(user_id="", agent_id="desk")
        intake.accept_run(conn, episode, RULES, recall_ids=[], now=NOON, keep_first=True)
        quoting = make_memory(kind="lesson", evidence=(make_evidence(episode.id, "my card ends in 4410", seq=1, turn_id="t1"),))
        memory_changes.insert_memory(conn, space_no, quoting, actor="test", why="set up")

    await ledger.write(write)
    for reader in ("", "ann"):
        [place] = (await ledger.read(lambda conn, who=reader: memories.evidence_of(conn, ["m1"], reader_user=who)))["m1"]
        assert (place.quote, place.turn_id, place.seq) == ("", "", None)
    [whole] = (await ledger.read(lambda conn: memories.evidence_of(conn, ["m1"])))["m1"]
    assert whole.quote
