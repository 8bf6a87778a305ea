"""Look-alikes of images, and how far tests of look-alikes agree: the paper's robustness (its Table 2)."""
