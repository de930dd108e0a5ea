"""The backend of several machines: all that knows PostgreSQL or procrastinate."""
