"""the newest of a space without reading the others"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


# In a form that other questions do not have: they are not to be answered by this index.
_LIVE = sa.text("CASE WHEN status IN ('active', 'pending') THEN 1 END IS NOT NULL")


def upgrade() -> None:
    op.create_index("ix_memories_newest", "memories", ["space_no", "recorded_at"], sqlite_where=_LIVE, postgresql_where=_LIVE)
