"""Addresses, connections and processes, whoever uses them."""
