"""PostgreSQL (extra `postgres`), imported only where a setting names a database."""
