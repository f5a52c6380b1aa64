"""How the pure ops of the loop level are spelled in C.

`spell` gives the C of one op from the C of its operands. An expression is a `Piece`, its text and
how tightly the text binds; `wrap` is the one place that adds parentheses.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from xdsl.dialects import arith, complex, func, vector
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from dialects.prog import COMPLEX, WHERE, Dtype, bits, dtype_of, type_of
from dialects.prog.c_library import C_TYPES, function3
from dialects.vector import VScaleOp, scalable
from uir.targets.c_literals import code_literal, float_literal, integer_literal
from uir.targets.c_vectors import VECTOR_TYPES, broadcast_text, shuffle_text

index = IndexType()

_DTYPE_TYPES: dict[Attribute, str] = {type_of(dtype): C_TYPES[dtype] for dtype in Dtype}
_VALUE_TYPES: dict[Attribute, str] = {
    **_DTYPE_TYPES,
    i1: "bool",
    index: "int64_t",
    **VECTOR_TYPES,
}
_ELEMENT_TYPES = {**_DTYPE_TYPES, i8: "uint8_t"}
"""In memory, i8 is what bytes are, of which views make elements of other types."""
_UNSIGNED_TYPES: dict[Attribute, str] = {i32: "uint32_t", i64: "uint64_t", index: "uint64_t"}


class UnprintableError(Exception):
    """The module holds something that has no place in a C file: a fault of the passes before."""

    def __init__(self, op: Operation, reason: str) -> None:
        function = op
        while not isinstance(function, func.FuncOp) and (parent := function.parent_op()):
            function = parent
        place = f" in @{function.sym_name.data}" if isinstance(function, func.FuncOp) else ""
        super().__init__(f"c: cannot print `{op.name}`{place}: {reason}")


def value_type(op: Operation, type_: Attribute) -> str:
    """The C type of a value; `op` is blamed for a type that has none."""
    if type_ not in _VALUE_TYPES:
        raise UnprintableError(op, f"no C type for {type_} values")
    return _VALUE_TYPES[type_]


def element_type(op: Operation, type_: Attribute) -> str:
    """The C type of an element in memory; `op` is blamed for a type that has none."""
    if type_ not in _ELEMENT_TYPES:
        raise UnprintableError(op, f"no C type for {type_} in memory")
    return _ELEMENT_TYPES[type_]


class Level(IntEnum):
    """How tightly an expression binds, loosest first."""

    OR = 1
    XOR = 2
    AND = 3
    COMPARE = 4
    SUM = 5
    PRODUCT = 6
    UNARY = 7
    PRIMARY = 8


@dataclass(frozen=True, slots=True)
class Piece:
    """A C expression."""

    text: str
    level: Level = Level.PRIMARY
    ops: int = 0
    """The number of ops spelled in the text."""
    is_int_literal: bool = False
    """Whether C gives the text the type `int` although its value may be of a wider type."""
    unsigned: "Piece | None" = None
    """The same bits as an expression of the unsigned type, for a text that is a cast from it."""
    scalar: "Piece | None" = None
    """What is in all lanes of a vector; beside a vector, C takes it in place of the vector."""


def wrap(piece: Piece, needed: Level) -> str:
    """The text of `piece`, in parentheses where it binds looser than `needed`."""
    return piece.text if piece.level >= needed else f"({piece.text})"


@dataclass(frozen=True)
class _Operator:
    symbol: str
    level: Level
    operand: Level
    """What the operands must bind like; compilers warn about less than C itself demands."""
    chains: bool = True
    """Whether the left operand may be of the operator's own level: `a - b + c`."""


def _binary(operator: _Operator, lhs: Piece, rhs: Piece) -> Piece:
    chained = operator.chains and lhs.level == operator.level
    left = wrap(lhs, operator.level if chained else operator.operand)
    right = wrap(rhs, operator.operand)
    return Piece(f"{left} {operator.symbol} {right}", operator.level, 1 + lhs.ops + rhs.ops)


def _cast(c_type: str, piece: Piece, unsigned: Piece | None = None) -> Piece:
    text = f"({c_type}){wrap(piece, Level.UNARY)}"
    return Piece(text, Level.UNARY, 1 + piece.ops, unsigned=unsigned)


def _call(function: str, *arguments: Piece) -> Piece:
    text = ", ".join(argument.text for argument in arguments)
    return Piece(f"{function}({text})", ops=1 + sum(argument.ops for argument in arguments))


def _comparison(symbol: str) -> _Operator:
    return _Operator(symbol, Level.COMPARE, Level.SUM, chains=False)


_ADD = _Operator("+", Level.SUM, Level.PRODUCT)
_SUBTRACT = _Operator("-", Level.SUM, Level.PRODUCT)
_MULTIPLY = _Operator("*", Level.PRODUCT, Level.UNARY)
_DIVIDE = _Operator("/", Level.PRODUCT, Level.UNARY)
_REMAINDER = _Operator("%", Level.PRODUCT, Level.UNARY)
_AND = _Operator("&", Level.AND, Level.UNARY)
_OR = _Operator("|", Level.OR, Level.UNARY)
_XOR = _Operator("^", Level.XOR, Level.UNARY)

_FLOAT_OPERATORS: dict[type[Operation], _Operator] = {
    arith.AddfOp: _ADD,
    arith.SubfOp: _SUBTRACT,
    arith.MulfOp: _MULTIPLY,
    arith.DivfOp: _DIVIDE,
}
_WRAPPING: dict[type[Operation], tuple[_Operator, str]] = {
    arith.AddiOp: (_ADD, "add"),
    arith.SubiOp: (_SUBTRACT, "sub"),
    arith.MuliOp: (_MULTIPLY, "mul"),
}
_DIVISION_OPERATORS: dict[type[Operation], _Operator] = {
    arith.DivSIOp: _DIVIDE,
    arith.RemSIOp: _REMAINDER,
}
_UNSIGNED_DIVISION_OPERATORS: dict[type[Operation], _Operator] = {
    arith.DivUIOp: _DIVIDE,
    arith.RemUIOp: _REMAINDER,
}
_BITWISE_OPERATORS: dict[type[Operation], _Operator] = {
    arith.AndIOp: _AND,
    arith.OrIOp: _OR,
    arith.XOrIOp: _XOR,
}
_FLOAT_HELPERS: dict[type[Operation], str] = {
    arith.MaximumfOp: "max_f32",
    arith.MinimumfOp: "min_f32",
}
_SELECTS: dict[Attribute, str] = {
    i1: "select_bool",
    i32: "select_i32",
    i64: "select_i64",
    index: "select_i64",
    f32: "select_f32",
}
_FLOOR_DIVISIONS: dict[Attribute, str] = {
    i32: "floordiv_i32",
    i64: "floordiv_i64",
    index: "floordiv_i64",
}
# Conversions that a plain C cast makes, given that lowering keeps `fptosi` in range.
_CASTS: frozenset[tuple[type[Operation], Attribute, Attribute]] = frozenset(
    {
        (arith.IndexCastOp, i32, index),
        (arith.IndexCastOp, i64, index),
        (arith.IndexCastOp, index, i32),
        (arith.IndexCastOp, index, i64),
        (arith.ExtUIOp, i1, i32),
        (arith.ExtUIOp, i1, i64),
        (arith.ExtSIOp, i32, i64),
        (arith.TruncIOp, i64, i32),
        (arith.SIToFPOp, i32, f32),
        (arith.SIToFPOp, i64, f32),
        (arith.UIToFPOp, i1, f32),
        (arith.FPToSIOp, f32, i32),
        (arith.FPToSIOp, f32, i64),
        (arith.SIToFPOp, i32, f64),
        (arith.SIToFPOp, i64, f64),
        (arith.UIToFPOp, i1, f64),
        (arith.FPToSIOp, f64, i32),
        (arith.FPToSIOp, f64, i64),
        (arith.ExtFOp, f32, f64),
        (arith.TruncFOp, f64, f32),
    }
)

# Predicates of `arith.cmpi` and `arith.cmpf`, by their numbers.
_SIGNED_PREDICATES = {0: "==", 1: "!=", 2: "<", 3: "<=", 4: ">", 5: ">="}
_UNSIGNED_PREDICATES = {6: "<", 7: "<=", 8: ">", 9: ">="}
_ORDERED_PREDICATES = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}
_NEGATED_PREDICATES = {9: "<=", 10: "<", 11: ">=", 12: ">"}
_MACRO_PREDICATES = {6: "islessgreater", 14: "isunordered"}
_NEGATED_MACRO_PREDICATES = {7: "isunordered", 8: "islessgreater"}

Spelling = Callable[[Operation, Sequence[Piece]], Piece]


def is_expression(op: Operation) -> bool:
    """Whether `op` is pure and `spell` knows it."""
    return type(op) in _SPELLINGS or is_library_call(op)


def is_library_call(op: Operation) -> bool:
    """Whether `op` calls a function of the kind library: other functions give no results."""
    return isinstance(op, func.CallOp) and len(op.results) == 1


def is_literal(op: Operation) -> bool:
    """Whether `op` is spelled as a literal, which may stand wherever the value is used."""
    return isinstance(op, arith.ConstantOp | VScaleOp)


def spell(op: Operation, operands: Sequence[Piece]) -> Piece:
    """The C expression of a pure op whose operands are spelled `operands`.

    Raises UnprintableError for an operand type or a predicate that the loop level does not have.
    """
    if isinstance(op, func.CallOp):
        return _call(op.callee.string_value(), *operands)
    return _SPELLINGS[type(op)](op, operands)


def _unsigned(piece: Piece, type_: Attribute) -> Piece:
    if piece.unsigned is not None:
        return piece.unsigned
    if piece.is_int_literal and piece.level is Level.PRIMARY and type_ == i32:
        return Piece(piece.text + "u")
    return _cast(_UNSIGNED_TYPES[type_], piece)


def _as_wide(pieces: Sequence[Piece], type_: Attribute) -> Sequence[Piece]:
    """Operands of which C computes a value of `type_`: two `int` literals would make an `int`."""
    first, *rest = pieces
    if type_ in (i64, index) and all(piece.is_int_literal for piece in pieces):
        return [_cast("int64_t", first), *rest]
    return pieces


def _spell_constant(op: Operation, _: Sequence[Piece]) -> Piece:
    assert isinstance(op, arith.ConstantOp)
    value = op.value
    if isa(value, FloatAttr) and value.type in _VALUE_TYPES:
        number = value.value.data
        if value.type in (f32, f64):
            return _signed_literal(float_literal(number, single=value.type == f32))
        return Piece(code_literal(bits(dtype_of(value.type), number)))
    if isa(value, IntegerAttr) and value.type in _VALUE_TYPES:
        number = value.value.data
        if value.type == i1:
            return Piece("true" if number else "false")
        width = value.type.width.data if isinstance(value.type, IntegerType) else 64
        return _signed_literal(integer_literal(number, width), is_int=abs(number) < 2**31)
    raise UnprintableError(op, f"no C literal for {value}")


def _signed_literal(text: str, *, is_int: bool = False) -> Piece:
    """A minus sign is an operator."""
    level = Level.UNARY if text.startswith("-") else Level.PRIMARY
    return Piece(text, level, is_int_literal=is_int)


def _require_type(op: Operation, *types: Attribute) -> None:
    """Raises UnprintableError unless the operands of `op` are of one of `types`."""
    if (found := op.operands[-1].type) not in types:
        raise UnprintableError(op, f"no arithmetic on {found}")


def _spell_float_operator(op: Operation, operands: Sequence[Piece]) -> Piece:
    _require_type(op, f32, f64, scalable(f32))
    lhs, rhs = operands
    if lhs.scalar is None or rhs.scalar is None:
        lhs, rhs = lhs.scalar or lhs, rhs.scalar or rhs
    return _binary(_FLOAT_OPERATORS[type(op)], lhs, rhs)


def _spell_float_helper(op: Operation, operands: Sequence[Piece]) -> Piece:
    _require_type(op, f32)
    return _call(_FLOAT_HELPERS[type(op)], *operands)


def _spell_negf(op: Operation, operands: Sequence[Piece]) -> Piece:
    _require_type(op, f32, f64)
    (operand,) = operands
    return Piece("-" + wrap(operand, Level.PRIMARY), Level.UNARY, 1 + operand.ops)


def _spell_wrapping(op: Operation, operands: Sequence[Piece]) -> Piece:
    """Data wraps, where C leaves signed overflow undefined. No index overflows."""
    type_ = op.results[0].type
    operator, name = _WRAPPING[type(op)]
    if type_ == index:
        return _binary(operator, *_as_wide(operands, type_))
    _require_type(op, i32, i64)
    return _call(f"{name}_{type_}", *operands)


def _spell_division(op: Operation, operands: Sequence[Piece]) -> Piece:
    type_ = op.results[0].type
    _require_type(op, *_UNSIGNED_TYPES)
    return _binary(_DIVISION_OPERATORS[type(op)], *_as_wide(operands, type_))


def _spell_unsigned_division(op: Operation, operands: Sequence[Piece]) -> Piece:
    type_ = op.results[0].type
    _require_type(op, i32, i64)
    operator = _UNSIGNED_DIVISION_OPERATORS[type(op)]
    result = _binary(operator, *(_unsigned(operand, type_) for operand in operands))
    return _cast(_VALUE_TYPES[type_], result, unsigned=result)


def _spell_floor_division(op: Operation, operands: Sequence[Piece]) -> Piece:
    type_ = op.results[0].type
    _require_type(op, *_FLOOR_DIVISIONS)
    return _call(_FLOOR_DIVISIONS[type_], *operands)


def _spell_bitwise(op: Operation, operands: Sequence[Piece]) -> Piece:
    return _binary(_BITWISE_OPERATORS[type(op)], *_as_wide(operands, op.results[0].type))


def _spell_cmpi(op: Operation, operands: Sequence[Piece]) -> Piece:
    assert isinstance(op, arith.CmpiOp)
    predicate, type_ = op.predicate.value.data, op.lhs.type
    # As a number, a true i1 is -1: only its unsigned order is that of C's bool.
    if type_ == i1 and predicate in _UNSIGNED_PREDICATES:
        return _binary(_comparison(_UNSIGNED_PREDICATES[predicate]), *operands)
    if type_ == i1 and predicate > 1:
        raise UnprintableError(op, "no signed order on i1")
    if predicate in _SIGNED_PREDICATES:
        return _binary(_comparison(_SIGNED_PREDICATES[predicate]), *operands)
    _require_type(op, *_UNSIGNED_TYPES)
    operator = _comparison(_UNSIGNED_PREDICATES[predicate])
    return _binary(operator, *(_unsigned(operand, type_) for operand in operands))


def _spell_cmpf(op: Operation, operands: Sequence[Piece]) -> Piece:
    assert isinstance(op, arith.CmpfOp)
    _require_type(op, f32, f64)
    predicate = op.predicate.value.data
    if predicate in _ORDERED_PREDICATES:
        return _binary(_comparison(_ORDERED_PREDICATES[predicate]), *operands)
    if predicate in _NEGATED_PREDICATES:
        return _not(_binary(_comparison(_NEGATED_PREDICATES[predicate]), *operands))
    if predicate in _MACRO_PREDICATES:
        return _call(_MACRO_PREDICATES[predicate], *operands)
    if predicate in _NEGATED_MACRO_PREDICATES:
        return _not(_call(_NEGATED_MACRO_PREDICATES[predicate], *operands))
    raise UnprintableError(op, "a comparison that compares nothing")


def _not(piece: Piece) -> Piece:
    # Parenthesised whole: as the operand of `&`, compilers take a bare `!` for a slip.
    return Piece(f"(!{wrap(piece, Level.UNARY)})", ops=piece.ops)


def _spell_select(op: Operation, operands: Sequence[Piece]) -> Piece:
    type_ = op.results[0].type
    return _call(_SELECTS.get(type_) or function3(WHERE, dtype_of(type_)), *operands)


def _spell_cast(op: Operation, operands: Sequence[Piece]) -> Piece:
    (operand,) = operands
    source, result = op.operands[0].type, op.results[0].type
    if (type(op), source, result) not in _CASTS:
        raise UnprintableError(op, f"no conversion from {source} to {result}")
    if _VALUE_TYPES[source] == _VALUE_TYPES[result]:
        return operand
    return _cast(_VALUE_TYPES[result], operand)


def _spell_bitcast(op: Operation, operands: Sequence[Piece]) -> Piece:
    (operand,) = operands
    source, result = op.operands[0].type, op.results[0].type
    if (source, result) == (f32, i32):
        bits = _call("f32_bits", operand)
        return _cast("int32_t", bits, unsigned=bits)
    if (source, result) == (i32, f32):
        return _call("bits_f32", _unsigned(operand, i32))
    if (source, result) == (i64, f64):
        return _call("bits_f64", _unsigned(operand, i64))
    if source not in _VALUE_TYPES or result not in _VALUE_TYPES or {source, result} & _NO_CODES:
        raise UnprintableError(op, f"no conversion from {source} to {result}")
    if _VALUE_TYPES[result] == _UNSIGNED_TYPES.get(source):
        return _unsigned(operand, source)
    if source == IntegerType(4):
        operand = _binary(_AND, operand, Piece("15"))
    return _cast(_VALUE_TYPES[result], operand)


_NO_CODES: set[Attribute] = {f32, f64, *(type_of(dtype) for dtype in COMPLEX)}
"""The types of dtypes whose values in C are not integers."""


def _spell_complex(op: Operation, operands: Sequence[Piece]) -> Piece:
    real, imaginary = operands
    text = f"({value_type(op, op.results[0].type)}){{{real.text}, {imaginary.text}}}"
    return Piece(text, ops=1 + real.ops + imaginary.ops)


def _spell_shuffle(op: Operation, operands: Sequence[Piece]) -> Piece:
    assert isinstance(op, vector.ShuffleOp)
    text = shuffle_text(op, [operand.text for operand in operands])
    return Piece(text, ops=1 + sum(operand.ops for operand in operands))


def _spell_broadcast(op: Operation, operands: Sequence[Piece]) -> Piece:
    assert isinstance(op, vector.BroadcastOp)
    (scalar,) = operands
    text = broadcast_text(value_type(op, op.vector.type), wrap(scalar, Level.PRODUCT))
    return Piece(text, Level.SUM, scalar.ops, scalar=scalar)


def _spell_vscale(op: Operation, _: Sequence[Piece]) -> Piece:
    return Piece("vscale")


_SPELLINGS: dict[type[Operation], Spelling] = {
    vector.ShuffleOp: _spell_shuffle,
    vector.BroadcastOp: _spell_broadcast,
    VScaleOp: _spell_vscale,
    arith.ConstantOp: _spell_constant,
    arith.NegfOp: _spell_negf,
    arith.FloorDivSIOp: _spell_floor_division,
    arith.CmpiOp: _spell_cmpi,
    arith.CmpfOp: _spell_cmpf,
    arith.SelectOp: _spell_select,
    arith.BitcastOp: _spell_bitcast,
    complex.CreateOp: _spell_complex,
    **dict.fromkeys(_FLOAT_OPERATORS, _spell_float_operator),
    **dict.fromkeys(_FLOAT_HELPERS, _spell_float_helper),
    **dict.fromkeys(_WRAPPING, _spell_wrapping),
    **dict.fromkeys(_DIVISION_OPERATORS, _spell_division),
    **dict.fromkeys(_UNSIGNED_DIVISION_OPERATORS, _spell_unsigned_division),
    **dict.fromkeys(_BITWISE_OPERATORS, _spell_bitwise),
    **dict.fromkeys((op_class for op_class, _, _ in _CASTS), _spell_cast),
}
