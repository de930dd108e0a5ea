"""Plan, judge and write without a model. Results are deterministic, and all quotes come from
sources.
"""
