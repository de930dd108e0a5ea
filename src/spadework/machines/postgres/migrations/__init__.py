"""Our migrations for Alembic: one file each in `versions/`, which names its predecessor."""
