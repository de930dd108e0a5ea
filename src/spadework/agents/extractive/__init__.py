"""Plan, judge and write deterministically, without a model. Answers consist of quotes."""
