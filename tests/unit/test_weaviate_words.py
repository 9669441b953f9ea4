"""Counting the words of a space as they are written, one by one, comes to the same as counting them all at once. Pure."""

from hypothesis import given
from hypothesis import strategies as st

from hindwise.index.weaviate_names import object_id, tenant_name
from hindwise.index.weaviate_words import OVERLAP_US, Document, SpaceWords, Weights, WordsCache, Written

WORDS = st.sampled_from(["key", "flowerpot", "钥匙", "花盆", "kite"])
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)
WRITES = st.lists(st.tuples(st.integers(1, 8), TEXTS), max_size=30)


def written(key: int, lex: str, rev: int) -> Written:
    return Written(key, f"m{key}", lex, rev)


def marker(rev: int) -> Written:
    return Written(0, "", "", rev)


@given(WRITES)
def test_learnt_one_by_one_or_counted_at_once_is_the_same(writes) -> None:
    grown, last = SpaceWords(), {}
    for rev, (key, lex) in enumerate(writes, 1):
        assert grown.learn([written(key, lex, rev)])
        last[key] = written(key, lex, rev)
    counted = SpaceWords.of(last.values())
    assert (grown.docs, grown.tokens, grown.upto) == (counted.docs, counted.tokens, counted.upto)
    assert +grown.df == +counted.df
    assert grown.documents == counted.documents


@given(WRITES)
def test_hearing_of_a_write_twice_changes_nothing(writes) -> None:
    words = SpaceWords.of(written(key, lex, 1) for key, lex in dict(writes).items())
    before = (words.docs, words.tokens, dict(words.df))
    words.learn([written(key, lex, 1) for key, lex in dict(writes).items()])
    assert (words.docs, words.tokens, dict(words.df)) == before


def test_what_was_taken_out_asks_for_a_new_count_once() -> None:
    words = SpaceWords.of([marker(1), written(1, "key", 2)])
    assert words.learn([marker(1)])
    assert not words.learn([marker(3)])
    assert words.learn([marker(3)])


def test_it_is_asked_again_for_the_last_second_but_not_for_a_whole_batch() -> None:
    few = SpaceWords.of(written(key, "key", 5_000_000) for key in range(1, 10))
    assert few.since == 5_000_000 - OVERLAP_US
    many = SpaceWords.of(written(key, "key", 5_000_000) for key in range(1, 200))
    assert many.since == 5_000_000
    many.learn([written(300, "kite", 5_000_000 + 2 * OVERLAP_US)])
    assert many.since == 5_000_000 + OVERLAP_US


def test_a_common_word_is_searched_for_only_where_nothing_else_is_known() -> None:
    words = SpaceWords.of(written(key, "key 钥匙" if key < 50 else "kite", key) for key in range(1, 61))
    assert Weights(words, ["key", "kite", "unknown"]).searched == ("kite",)
    assert Weights(words, ["钥匙", "unknown"]).searched == ("钥匙",)
    assert Weights(words, ["unknown"]).searched == ()
    assert Weights(words, []).coverage(Document("m", ())) == 0.0


def test_the_cache_forgets_what_was_asked_for_longest_ago() -> None:
    one = SpaceWords.of(written(key, f"w{key}", key) for key in range(1, 100))
    cache = WordsCache(int(one.nbytes * 2.5))
    for name in ("a", "b"):
        cache.put(name, SpaceWords.of(written(key, f"w{key}", key) for key in range(1, 100)))
    assert cache.get("a")
    cache.put("c", one)
    assert cache.get("b") is None
    assert cache.get("a")
    assert cache.get("c")


def test_names_are_the_same_each_time_and_differ_by_secret_and_space() -> None:
    own = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
    assert object_id(own) == own, "whoever looks in finds a memory by its id"
    assert object_id(own.upper()) != own.upper(), "the server would write it in lower case"
    assert len({object_id(name) for name in ("m1", "记忆一", "a", own)}) == 4
    names = {tenant_name(secret, space) for secret in (b"s1", b"s2") for space in ("t/user:a", "t/user:b", "t/user:李娜")}
    assert len(names) == 6
