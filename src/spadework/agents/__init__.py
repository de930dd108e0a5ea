"""The judgements of the loop, one file a role."""
