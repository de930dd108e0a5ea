"""PostgreSQL, where several machines share their work: the extra `postgres`. Nothing here is
imported unless a setting names a database.
"""
