"""Where things are that tests read beside the code."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
MINI = ROOT.parent / "shared" / "cifar10-mini"
"""5,000 training and 1,000 test images of CIFAR-10, which are not ours to redistribute: often not there."""
