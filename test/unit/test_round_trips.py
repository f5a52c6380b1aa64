"""Programs as text and as MLIR, read back: the same ops, attributes and places.

Over all valid programs of the suite and the examples, and for some on every level.
"""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, ModuleOp
from xdsl.parser import Parser
from xdsl.printer import Printer

from dialects import get_all_dialects
from dialects.uir.constants import ConstantOp
from passes.pipelines import PIPELINES, apply_passes
from uir.program import decode
from uir.text.parser import parse_text
from uir.text.printer import text_of

ROOT = Path(__file__).parents[2]
LARGE = "mnist_train.uir"
"""Takes longer than all the others, and has nothing that they lack."""


def valid_programs() -> list[str]:
    """The programs of the suite and the examples, by their path from the root."""
    suite = [p for p in ROOT.glob("test/week*/*/*.uir") if p.parent.name != "invalid"]
    files = [*suite, *ROOT.glob("examples/*.uir")]
    return sorted(str(path.relative_to(ROOT)) for path in files if path.name != LARGE)


PROGRAMS = valid_programs()
ON_EVERY_LEVEL = [name for name in PROGRAMS if "/render/" in name][::16] + [
    name for name in PROGRAMS if name.startswith("examples") or "division_in_c" in name
]


def module_of(name: str) -> ModuleOp:
    return parse_text(decode((ROOT / name).read_bytes(), name), name)


def context() -> Context:
    made = Context()
    for name, factory in get_all_dialects().items():
        made.register_dialect(name, factory)
    return made


def through_mlir(module: ModuleOp, is_generic: bool) -> ModuleOp:
    """`module` printed with its places, and read back."""
    out = StringIO()
    Printer(out, print_generic_format=is_generic, print_debuginfo=True).print_op(module)
    return Parser(context(), out.getvalue()).parse_module()


def with_literals_first(module: ModuleOp) -> ModuleOp:
    """A copy whose literals stand at the top, sorted: the text has no place for them."""
    copy = module.clone()
    block = copy.body.block
    literals = [op for op in block.ops if isinstance(op, ConstantOp)]
    for op in sorted(literals, key=lambda op: (op.value.data.dtype, op.value.data.spell())):
        op.detach()
        if op.result.first_use is None:
            op.erase()
        elif block.first_op is not None:
            block.insert_op_before(op, block.first_op)
    return copy


def assert_same(module: ModuleOp, again: ModuleOp) -> None:
    again.verify()
    assert module.is_structurally_equivalent(again), f"{module}\nbecame\n{again}"
    assert [op.location for op in module.walk()] == [op.location for op in again.walk()]


def test_there_are_programs() -> None:
    assert len(PROGRAMS) > 200
    assert any(name.startswith("examples") for name in PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    module = module_of(name)
    text = text_of(module)
    again = parse_text(text)
    assert with_literals_first(module).is_structurally_equivalent(with_literals_first(again)), text
    assert text_of(again) == text
    for is_generic in (False, True):
        read = through_mlir(module, is_generic)
        assert_same(module, read)
        assert text_of(read) == text


@pytest.mark.parametrize("name", ON_EVERY_LEVEL)
@pytest.mark.parametrize("pipeline", ["render", "render-checked"])
def test_every_level(name: str, pipeline: str) -> None:
    module = module_of(name)
    for step in PIPELINES[pipeline]:
        apply_passes([step], module)
        for is_generic in (False, True):
            assert_same(module, through_mlir(module, is_generic))


def test_places_are_kept() -> None:
    """The other tests compare places, so there must be some."""
    module = parse_text("%a = recip -0.0\n\n%b =  add %a nan", "f.uir")
    again = through_mlir(module, is_generic=False)
    places = [
        (op.name, loc.line.data, loc.column.data, loc.filename.data)
        for op in again.body.block.ops
        if isinstance(loc := op.location, FileLineColLoc)
    ]
    assert places == [
        ("uir.constant", 1, 12, "f.uir"),
        ("uir.recip", 1, 6, "f.uir"),
        ("uir.constant", 3, 14, "f.uir"),
        ("uir.add", 3, 7, "f.uir"),
        ("uir.result", 3, 7, "f.uir"),
    ]
