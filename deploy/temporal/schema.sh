#!/bin/sh
# Make Temporal's two databases and bring their tables to this release. Safe to run at every start; connection by SQL_*.
set -eu
for part in temporal visibility; do
  database=temporal
  [ "$part" = visibility ] && database=temporal_visibility
  # Both fail where their work was done before; the update behind them tells what really is wrong.
  temporal-sql-tool --db "$database" create || echo "$database is there"
  temporal-sql-tool --db "$database" setup-schema -v 0.0 || echo "$database has its first tables"
  temporal-sql-tool --db "$database" update-schema -d "/etc/temporal/schema/postgresql/v12/$part/versioned"
done
