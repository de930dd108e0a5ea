"""The steps of our tables, for Alembic: a file each in `versions/`, naming the one before."""
