"""A remote array without its values."""

import io

import numpy as np

from pipeline.remote.objects import Identity


class HeaderOnly:
    """A remote array of which only the header is ever asked for."""

    def __init__(self, name, shape, dtype):
        stream = io.BytesIO()
        fields = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(stream, fields)
        self.name, self.header = name, stream.getvalue()
        self.size = len(self.header) + int(np.prod(shape)) * np.dtype(dtype).itemsize

    def identify(self):
        return Identity(self.size, "tag")

    def stream(self, start, stop, length):
        assert stop <= len(self.header)
        yield self.header[start:stop]
