"""Sessions that several machines share: submitted by one process, run by another, shown by any."""
