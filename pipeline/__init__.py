"""The stages around `datamodels_inf`: files, configuration, cache, progress and the command line."""
