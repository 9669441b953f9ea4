"""Names in Temporal outlive a release: a session under way must be found by the next one."""

from hindwise.model.ids import keyed_hash


def test_a_keyed_name_is_the_same_for_ever() -> None:
    assert keyed_hash(b"k" * 32, "turns", "a" * 32, "1", "1") == "zhgcxs2delidhar62z4pt72f4kk6x44h"
    assert keyed_hash(b"k" * 32, "session", "租户", "会话/1") == "myjqhsq7nfgpct7i7peoc3dxpcg35ayu"
