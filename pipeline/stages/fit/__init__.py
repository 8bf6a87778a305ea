"""Stage 2, fit: LASSO datamodels in batches that outlive a kill, or weights from a file."""
