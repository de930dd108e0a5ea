"""Plan, judge and write without a model. The results are deterministic and quote only sources."""
