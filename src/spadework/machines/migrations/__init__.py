"""Our Alembic migrations. Each names its predecessor."""
