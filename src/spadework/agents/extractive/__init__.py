"""Do the work of the model roles without a model. Results are deterministic, and all quotes come
from sources.
"""
