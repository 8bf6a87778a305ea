"""Pairs of a design as plain tuples."""

import itertools


def listed(pairs):
    """[(I, J, target), …], the members as tuples."""
    runs = itertools.pairwise(pairs.bounds.tolist())
    left, right = pairs.left.tolist(), pairs.right.tolist()
    members = [(tuple(left[a:b]), tuple(right[a:b])) for a, b in runs]
    return [(*both, target) for both, target in zip(members, pairs.target.tolist(), strict=True)]
