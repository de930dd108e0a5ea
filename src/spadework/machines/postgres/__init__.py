"""PostgreSQL (extra `postgres`), imported only if a setting names a database."""
