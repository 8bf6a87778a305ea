"""Fresh models on fresh masks, and how far all findings agree with them."""
