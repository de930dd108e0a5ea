"""The dense half of a search: passages and questions as vectors of a model, and which passages are
nearest to a question.
"""
