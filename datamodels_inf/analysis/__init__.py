"""From masks and outcomes to findings in one call, in memory: `analyse` (run), what it takes (inputs, items, settings),
how rows are divided and checked (division, premise), fitted and tested (fitting, testing), and what it gives (result,
influences, display)."""
