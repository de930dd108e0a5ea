"""Handle URLs, connections, threads and queues."""
