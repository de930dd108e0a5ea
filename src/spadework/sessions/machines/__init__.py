"""Sessions shared by several machines: submitted by one process, run by another, shown by any."""
