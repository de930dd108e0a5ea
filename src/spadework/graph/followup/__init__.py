"""Continue an earlier report: revise, extend and partly recheck it."""
