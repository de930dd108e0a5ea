"""The steps by which our tables have become what they are, for Alembic: a new one is a file in
`versions/` that names the one before it.
"""
