"""Continue an earlier report by revising or extending it."""
