"""A fit that is killed on its way."""

from killed_run import kill_when
from warm import Command


def fit_stopped_when(folder, pattern, *arguments):
    """Start a fit, kill it as soon as a file like `pattern` is there, and say in which folder that is."""
    return kill_when(Command(folder, *arguments), folder, f"data/fit/.work-*/{pattern}")[0].parent
