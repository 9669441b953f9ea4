"""Where is the truth kept? SQLAlchemy Core on worker threads: SQLite on one machine, Postgres on several."""
