"""PostgreSQL (extra `postgres`), imported only if a database is set."""
