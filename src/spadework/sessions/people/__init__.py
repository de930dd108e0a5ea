"""The users of a server: who they are, what they may do, and which sessions they see.

Every user has a home within the server's, the only place for their sessions, knowledge, caches,
plans and statistics. A user's settings give no access to others' homes.
"""
