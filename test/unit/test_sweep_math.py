"""What kernels compute for math ops is what defines them, and the sweep would see if it weren't."""

from __future__ import annotations

import pytest
import sweep_math

from dialects.uir import math
from dialects.uir.math import MathOp
from passes import inline_body


@pytest.mark.parametrize("op", sweep_math.OPS)
def test_no_result_differs(op: str) -> None:
    """At about a million operands: the step is odd, so that all low bits come up."""
    assert sweep_math.count_differences(op, 4099) == 0


def test_a_difference_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def body(op: type[MathOp]) -> str:
        return math.body_text(op).replace("0.6931472", "0.6931473")

    monkeypatch.setattr(inline_body, "kernel_body_text", body)
    inline_body.kernel_body_of.cache_clear()
    try:
        assert sweep_math.count_differences("exp2", 4099) > 1000
    finally:
        inline_body.kernel_body_of.cache_clear()
