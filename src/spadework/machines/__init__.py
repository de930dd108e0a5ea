"""The backend for running on several machines, which requires PostgreSQL and procrastinate."""
