"""Arrays in files, .npy and .npz, and the pickles that hold some: the doors through which each of them comes in.

A header is held against the bytes that are there before any memory is taken, and nothing in a file is run: numpy reads
headers as expressions of Python's, and takes the memory that they ask for; Python runs what a pickle says.
"""

from pipeline.arrays.npy import Header, map_npy, open_array, read_header
from pipeline.arrays.npz import ArrayArchive, open_npz, read_npz

__all__ = ["ArrayArchive", "Header", "map_npy", "open_array", "open_npz", "read_header", "read_npz"]
