"""The backend for several machines: everything that needs PostgreSQL or procrastinate."""
