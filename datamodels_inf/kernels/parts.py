"""A kernel as a part of others, compiled only as far as they need it.

Numba compiles each function that a kernel calls as if Python called it too: it is optimised, becomes machine code, gets
a wrapper for Python and a file on disk. Then it is linked into the kernel, from before it was machine code, and
optimised there again. Here it is only written down in LLVM's language, and linked.

Some go Numba's whole way all the same: where sums may be taken in another order (`fastmath`), which one is found on
that way, and every result shall be Numba's to the last bit; and where the kernel around it becomes slower without.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

REORDERS = {"reassoc", "fast"}
"""Of `fastmath`: what lets sums be taken in another order."""


def part(function: Callable[..., Any], options: dict[str, Any], by_itself: bool) -> Any:
    """A dispatcher for calls from other kernels alone. by_itself: Numba's way, but for the wrapper and the file."""
    chosen: dict[str, Any] = {**options, "no_cpython_wrapper": True}
    if by_itself or not REORDERS.isdisjoint(options.get("fastmath", ())):
        return njit(**chosen)(function)
    dispatcher: Any = njit(**chosen, pipeline_class=_Written)(function)

    def add_overload(compiled: Any) -> None:
        """Without telling it to Python's side of the dispatcher, which wants an address."""
        dispatcher.overloads[tuple(compiled.signature.args)] = compiled

    dispatcher.add_overload = add_overload
    return dispatcher


class _Library(JITCodeLibrary):
    """What is linked in, as it was written."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Writing(NativeLowering):
    _name = "part_of_a_kernel"

    def run_pass(self, state: Any) -> bool:
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        written = state["cr"]._replace(cfunc=state.library)  # No address; only to be found by.
        state.targetctx.insert_user_function(written.cfunc, written.fndesc, [state.library])
        state["cr"] = written
        return True


class _Written(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(_Writing if kind is NativeLowering else kind, text) for kind, text in passes.passes]
        passes.finalize()
        return [passes]
