"""Images and labels: as one file, from CIFAR-10's own formats, and where to get them."""
