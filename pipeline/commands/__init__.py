"""What the commands print that are more than a stage: one module each."""
