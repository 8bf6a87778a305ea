"""Stage 3, test: the premise on masks, the pairs of the design, and their tests in chunks that outlive a kill."""
