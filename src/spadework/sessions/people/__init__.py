"""The people of a server: who they are, what each may do, and which of the sessions each may see.

Every user has a home of their own, inside that of the server: sessions, knowledge, caches, plans
and statistics are found there and nowhere else. Whoever is given a user's settings can reach
nothing of another's; only what was shared is looked up beside that.
"""
