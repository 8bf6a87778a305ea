"""A referee for attribution methods: which of their claims do models confirm that the scores have not seen?

A score s_i on a target says how much training image i helps there: positive helps, negative hurts. Its top claims
(`claims`) are tested by contrasts on held-out models, each method's claims one family at a false discovery rate
(`verdicts`); where two methods contradict each other, the models say who is right (`contradictions`). Beside that, how
well the scores predict outcomes, with intervals over models (`prediction`). `judge` does the first three in one call.
"""
