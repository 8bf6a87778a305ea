"""What takes long: files, and Monte-Carlo tests, which repeat less often in `make test` than in `make test-long`."""

LONGEST = (
    "product/test_documented_pages.py",
    "pipeline/report/output/test_page_in_browser.py",
    "validity/test_size.py",
    "pipeline/places/test_cluster.py",
    "datamodels_inf/test_simulate.py",
    "pipeline/commands/test_train_function.py",
    "pipeline/places/test_watch.py",
    "benchmarks/test_true_size.py",
    "pipeline/report/output/test_page_behaviour.py",
    "pipeline/remote/test_fetch.py",
    "pipeline/places/test_started.py",
    "validity/test_influence.py",
    "validity/test_false_discoveries.py",
    "validity/test_hard_nulls.py",
    "validity/test_influence_retrained.py",
    "pipeline/places/test_fitness.py",
    "pipeline/commands/test_train.py",
    "pipeline/commands/test_simulate.py",
    "product/test_example_own_function.py",
    "product/test_examples.py",
    "product/test_faults.py",
    "product/test_hostile_input.py",
    "product/test_stages_page.py",
    "product/test_figures.py",
    "product/test_site.py",
    "pipeline/test_run.py",
    "pipeline/test_run_stopped.py",
    "pipeline/stages/fit/test_lasso_batches.py",
    "pipeline/stages/test/test_pair_chunks.py",
    "datamodels_inf/training/test_train.py",
    "datamodels_inf/test_exchangeability.py",
    "product/test_wheel.py",  # Late: what was compiled for the others is not compiled for it again.
)
"""Files of tests/ that take more than some ten seconds: they come first, so that none is left to a single worker."""

LONG = False
"""Set by conftest.py from the option --long, before any test module is imported."""


def times(short, full):
    """`short` must be enough for the broken variants to fail; `full` notices what is only a little wrong."""
    return full if LONG else short
