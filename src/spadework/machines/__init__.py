"""Everything that knows PostgreSQL or procrastinate: the backend of several machines."""
