"""The backend for several machines, which needs PostgreSQL and procrastinate."""
