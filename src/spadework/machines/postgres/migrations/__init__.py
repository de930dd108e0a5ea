"""Migrations of our tables, for Alembic: one file each in `versions/`, naming its predecessor."""
