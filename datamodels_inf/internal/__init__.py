"""What the tests share and no user needs: checks of arguments, seeded coins, comparisons, laws of masks."""
