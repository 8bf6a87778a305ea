"""The referee: what attribution methods claim, held against held-out models, and its own page."""
