"""Weights and scores in files, as the tools that made them leave them."""

from pipeline.score_files.scores import Scores, read_arrays, read_scores, score_content

__all__ = ["Scores", "read_arrays", "read_scores", "score_content"]
