"""Continue an earlier report: revise it, extend it and recheck what changed."""
