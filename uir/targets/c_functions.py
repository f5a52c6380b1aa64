"""Prints one function of the loop level as C: its signature, its statements and its local names."""

import re
from collections.abc import Callable, Container, Mapping, Sequence

from xdsl.dialects import cf, func, memref, scf, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StringAttr, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from dialects.uir.attributes import SOURCE
from dialects.uir.checks import CHECKED
from uir.targets.c_dispatch import is_dispatched, needs_vectors
from uir.targets.c_expressions import (
    Level,
    Piece,
    UnprintableError,
    element_type,
    is_expression,
    is_literal,
    spell,
    value_type,
    wrap,
)
from uir.targets.c_literals import decimals
from uir.targets.c_names import Names
from uir.targets.c_uses import count_uses, is_live, negated_value
from uir.targets.c_vectors import load_text, store_text

_TERMINATORS = func.ReturnOp | scf.YieldOp | scf.ReduceOp

_INDENT = "  "
_LINE_LENGTH = 100
_MAX_OPS = 6
"""The ops of an expression that are spelled in one piece; a longer one goes through temporaries."""


def is_private(function: func.FuncOp) -> bool:
    """Whether only this file can call `function`."""
    visibility = function.sym_visibility
    return visibility is not None and visibility.data == "private"


def print_function(
    function: func.FuncOp,
    functions: Mapping[str, str],
    names: Names,
    stored: Mapping[str, frozenset[int]],
    checked: Container[str],
) -> list[str]:
    """The lines of `function`, which declares names out of `names`.

    `functions` holds the C name, and `stored` the stored arguments, of every function by symbol;
    `checked` are the symbols of those that report errors.
    Raises UnprintableError for an op or a type that has no place in C.
    """
    printer = _FunctionPrinter(function, functions, names, checked)
    return printer.print(stored[function.sym_name.data])


class _FunctionPrinter:
    def __init__(
        self,
        function: func.FuncOp,
        functions: Mapping[str, str],
        names: Names,
        checked: Container[str],
    ) -> None:
        self._function = function
        self._checked = checked
        self._functions = functions
        self._names = names
        self._pieces: dict[SSAValue, Piece] = {}
        self._lines: list[str] = []
        self._depth = 0
        self._uses, self._last_user = count_uses(function)
        self._statements: dict[type[Operation], Callable[..., None]] = {
            func.CallOp: self._print_call,
            scf.ForOp: self._print_for,
            scf.ParallelOp: self._print_parallel,
            scf.IfOp: self._print_if,
            memref.LoadOp: self._print_load,
            memref.StoreOp: self._print_store,
            vector.LoadOp: self._print_vector_load,
            vector.StoreOp: self._print_vector_store,
            memref.AllocOp: self._print_alloc,
            memref.AllocaOp: self._print_alloca,
            memref.DeallocOp: self._print_dealloc,
            memref.ViewOp: self._print_view,
            memref.CastOp: self._print_memory_cast,
            cf.AssertOp: self._print_assert,
        }
        self._is_checked = CHECKED in function.attributes
        self._can_fail = False
        """Whether a failure above jumps to a label that is still to come."""
        self._reports = False
        """Whether anything passes `error` on."""

    def print(self, stored: frozenset[int]) -> list[str]:
        self._print_source()
        parameters = self._parameters(stored)
        self._print_signature(parameters)
        self._depth += 1
        for argument in self._function.body.block.args:
            self._silence_if_unused(argument)
        start = len(self._lines)
        if needs_vectors(self._function):
            self._line("VECTORS(VECTOR_BYTES)")
        if self._is_checked:
            self._line("int status = 0;")
        self._print_block(self._function.body.block)
        if self._is_checked:
            if self._can_fail:
                self._lines.append("done:")
            self._line("return status;")
            if not self._reports:
                self._lines.insert(start, f"{_INDENT}(void)error;")
        self._depth -= 1
        self._line("})" if is_dispatched(self._function) else "}")
        return self._lines

    def _line(self, text: str) -> None:
        self._lines.append(_INDENT * self._depth + text)

    # Values and their names

    def _declare(self, value: SSAValue) -> str:
        """A fresh name that stands for `value` from here on."""
        name = self._names.fresh(value.name_hint)
        self._pieces[value] = Piece(name)
        return name

    def _bind(self, value: SSAValue, c_type: str, text: str) -> None:
        """Prints `value` as a constant of its own."""
        name = self._declare(value)
        self._line_with_decimals(f"const {c_type} {name} = {text};")

    def _line_with_decimals(self, statement: str) -> None:
        comment = ", ".join(decimals(statement))
        self._line(f"{statement}  // {comment}" if comment else statement)

    def _text(self, value: SSAValue) -> str:
        return self._pieces[value].text

    def _silence_if_unused(self, *values: SSAValue) -> None:
        """Keeps compilers from warning about a variable, known as `values`, that nothing reads."""
        if not any(self._uses[value] for value in values):
            self._line(f"(void){self._text(values[0])};")

    # The top of the function

    def _print_source(self) -> None:
        source = self._function.attributes.get(SOURCE)
        if isinstance(source, StringAttr):
            for line in source.data.splitlines():
                self._line(_comment(line))

    def _parameters(self, stored: frozenset[int]) -> list[str]:
        """The declarations of the parameters."""
        private = is_private(self._function)
        parameters: list[str] = []
        for position, argument in enumerate(self._function.body.block.args):
            name = self._declare(argument)
            if isa(argument.type, MemRefType):
                element = self._element_type(self._function, argument.type)
                const = "const " if private and position not in stored else ""
                parameters.append(f"{const}{element} *restrict {name}")
            elif isinstance(argument.type, VectorType):
                raise UnprintableError(self._function, "vectors are not passed to functions")
            else:
                parameters.append(f"{value_type(self._function, argument.type)} {name}")
        if self._is_checked:
            parameters.append("struct uir_error *error")
        return parameters or ["void"]

    def _print_signature(self, parameters: Sequence[str]) -> None:
        name = self._functions[self._symbol]
        if is_dispatched(self._function):
            if self._is_checked or not is_private(self._function):
                reason = "only a private function that reports no error is dispatched"
                raise UnprintableError(self._function, reason)
            arguments = [self._text(argument) for argument in self._function.body.block.args]
            self._lines += _packed(f"DISPATCH({name}, (", parameters, "),")
            self._lines += _packed(f"{_INDENT * 2}(", arguments or [""], "), {")
        else:
            result = "int" if self._is_checked else "void"
            static = "static " if is_private(self._function) else ""
            self._lines += _packed(f"{static}{result} {name}(", parameters, ") {")

    @property
    def _symbol(self) -> str:
        return self._function.sym_name.data

    def _element_type(self, op: Operation, type_: Attribute) -> str:
        if not isa(type_, MemRefType) or type_.get_num_dims() != 1:
            raise UnprintableError(op, f"memory is of rank 1, not {type_}")
        return element_type(op, type_.element_type)

    # Statements

    def _print_block(self, block: Block) -> None:
        """Prints the ops of a block up to its terminator."""
        for op in block.ops:
            if op is block.last_op and isinstance(op, _TERMINATORS):
                return
            if not is_live(op, self._uses):
                continue
            if is_expression(op):
                self._print_expression(op)
            elif type(op) in self._statements:
                self._statements[type(op)](op)
            else:
                raise UnprintableError(op, "the loop level has no such op")

    def _print_expression(self, op: Operation) -> None:
        (result,) = op.results
        piece = spell(op, [self._pieces[operand] for operand in op.operands])
        used_here_only = self._uses[result] == 1 and self._last_user[result].parent is op.parent
        is_free = is_literal(op) or (piece.scalar is not None and piece.ops == 0)
        if is_free or (used_here_only and piece.ops <= _MAX_OPS):
            self._pieces[result] = piece
        else:
            self._bind(result, value_type(op, result.type), piece.text)

    def _print_call(self, op: func.CallOp) -> None:
        arguments = ", ".join(self._text(argument) for argument in op.arguments)
        callee = op.callee.string_value()
        if callee not in self._checked:
            self._line(f"{self._functions[callee]}({arguments});")
            return
        self._line(f"if ({self._functions[callee]}({arguments}, error)) {{")
        self._line(f"{_INDENT}status = 1;")
        self._line(f"{_INDENT}goto done;")
        self._line("}")
        self._can_fail = self._reports = True

    def _print_load(self, op: memref.LoadOp) -> None:
        self._bind(op.res, value_type(op, op.res.type), self._element(op, op.memref, op.indices))

    def _print_store(self, op: memref.StoreOp) -> None:
        element = self._element(op, op.memref, op.indices)
        self._line_with_decimals(f"{element} = {self._text(op.value)};")

    def _print_vector_load(self, op: vector.LoadOp) -> None:
        element = self._element(op, op.base, op.indices)
        self._bind(op.result, value_type(op, op.result.type), load_text(op, element))

    def _print_vector_store(self, op: vector.StoreOp) -> None:
        element = self._element(op, op.base, op.indices)
        self._line(store_text(op, element, self._text(op.vector)))

    def _element(self, op: Operation, memory: SSAValue, indices: Sequence[SSAValue]) -> str:
        self._element_type(op, memory.type)
        (index,) = indices
        return f"{self._text(memory)}[{self._text(index)}]"

    def _print_alloc(self, op: memref.AllocOp) -> None:
        element = self._element_type(op, op.memref.type)
        size = self._static_size(op, op.memref.type)
        name = self._declare(op.memref)
        bytes_ = str(size) if element == "uint8_t" else f"{size} * sizeof({element})"
        call = f"malloc({bytes_})"
        if op.alignment is not None:
            alignment = op.alignment.value.data
            if size % alignment or element != "uint8_t":
                raise UnprintableError(
                    op, "aligned memory is of bytes, a multiple of the alignment"
                )
            call = f"aligned_alloc({alignment}, {bytes_})"
        self._line(f"{element} *const {name} = {call};")
        if self._is_checked:
            self._line(f'if ({name} == NULL) return uir_fail(error, 0, "out of memory");')
            self._reports = True
        else:
            self._line(f"if ({name} == NULL) abort();")

    def _print_alloca(self, op: memref.AllocaOp) -> None:
        element = self._element_type(op, op.memref.type)
        size = self._static_size(op, op.memref.type)
        name = self._declare(op.memref)
        if op.alignment is None:
            self._line(f"{element} {name}[{size}];")
            return
        # Beside an array that is indexed by name, gcc 12 keeps no other one in registers.
        array = self._names.fresh(f"{name}_array")
        self._line(f"_Alignas({op.alignment.value.data}) {element} {array}[{size}];")
        self._line(f"{element} *const restrict {name} = {array};")

    def _print_memory_cast(self, op: memref.CastOp) -> None:
        """The same pointer, which has no size in C."""
        self._element_type(op, op.dest.type)
        self._pieces[op.dest] = self._pieces[op.source]

    def _static_size(self, op: Operation, type_: MemRefType) -> int:
        (size,) = type_.get_shape()
        if size == DYNAMIC_INDEX:
            raise UnprintableError(op, "memory is allocated with a constant size")
        return size

    def _print_dealloc(self, op: memref.DeallocOp) -> None:
        if self._can_fail:
            self._can_fail = False
            self._lines.append("done:")
        self._line(f"free({self._text(op.memref)});")

    def _print_assert(self, op: cf.AssertOp) -> None:
        """Leaves the function with an error, whose line and kind are the message."""
        if not self._is_checked:
            raise UnprintableError(op, "only a checked function reports an error")
        line, _, kind = op.msg.data.partition(": ")
        self._line(f"if ({self._negation(op.arg)}) {{")
        self._line(f'{_INDENT}status = uir_fail(error, {int(line)}, "{kind}");')
        self._line(f"{_INDENT}goto done;")
        self._line("}")
        self._can_fail = self._reports = True

    def _negation(self, condition: SSAValue) -> str:
        """The text of `not condition`; of `x`, where the condition is `x xor true`."""
        negated = negated_value(condition)
        if negated is not None:
            return self._text(negated)
        return f"!{wrap(self._pieces[condition], Level.UNARY)}"

    def _print_view(self, op: memref.ViewOp) -> None:
        element = self._element_type(op, op.result.type)
        source = self._text(op.source)
        shift = wrap(self._pieces[op.byte_shift], Level.PRODUCT)
        name = self._declare(op.result)
        self._line(f"{element} *const {name} = ({element} *)({source} + {shift});")

    # Control flow

    def _print_for(self, op: scf.ForOp) -> None:
        induction, *carried = op.body.block.args
        c_type = value_type(op, induction.type)
        for bound in (op.ub, op.step):
            self._bind_if_compound(bound, c_type)
        variables: list[str] = []
        for argument, result, initial in zip(carried, op.res, op.iter_args, strict=True):
            if self._is_carried_on(op, initial):
                self._pieces[argument] = self._pieces[result] = self._pieces[initial]
                variables.append(self._text(argument))
                continue
            variable = self._declare(argument)
            variables.append(variable)
            self._pieces[result] = self._pieces[argument]
            argument_type = value_type(op, argument.type)
            self._line_with_decimals(f"{argument_type} {variable} = {self._text(initial)};")
            self._silence_if_unused(argument, result)
        self._print_turns(op.body.block, (op.lb, op.ub, op.step), variables)

    def _is_carried_on(self, op: scf.ForOp, initial: SSAValue) -> bool:
        """Whether `initial` is a variable of the loop around `op` that has served its purpose."""
        outer = op.parent_op()
        is_variable = isinstance(outer, scf.ForOp) and initial in outer.body.block.args[1:]
        return is_variable and self._uses[initial] == 1

    def _print_parallel(self, op: scf.ParallelOp) -> None:
        """Prints a loop whose turns threads share; what a turn declares is its own."""
        if len(op.operands) != 3 or any(map(self._leaves, op.walk())):
            raise UnprintableError(
                op, "a parallel loop has one variable, no results, and no errors to report"
            )
        bounds = (*op.lowerBound, *op.upperBound, *op.step)
        self._line("PARALLEL")
        self._print_turns(op.body.block, bounds, ())

    def _leaves(self, op: Operation) -> bool:
        """Whether `op` may leave the function."""
        if isinstance(op, func.CallOp):
            return op.callee.string_value() in self._checked
        return isinstance(op, cf.AssertOp | memref.AllocOp)

    def _print_turns(
        self, body: Block, bounds: Sequence[SSAValue], variables: Sequence[str]
    ) -> None:
        """Prints a loop between `bounds`, with a step, that carries `variables`."""
        induction = body.args[0]
        start, end, step = (self._text(value) for value in bounds)
        i = self._declare(induction)
        c_type = value_type(self._function, induction.type)
        self._line(f"for ({c_type} {i} = {start}; {i} < {end}; {i} += {step}) {{")
        self._print_nested(body, variables)
        self._line("}")

    def _bind_if_compound(self, value: SSAValue, c_type: str) -> None:
        """Names an expression that C would otherwise evaluate again on every turn of a loop."""
        piece = self._pieces[value]
        if piece.ops:
            self._bind(value, c_type, piece.text)

    def _print_if(self, op: scf.IfOp) -> None:
        variables: list[str] = []
        for result in op.output:
            variable = self._declare(result)
            variables.append(variable)
            self._line(f"{value_type(op, result.type)} {variable};")
        self._line(f"if ({self._text(op.cond)}) {{")
        self._print_nested(op.true_region.block, variables)
        if op.false_region.blocks and len(op.false_region.block.ops) > (0 if variables else 1):
            self._line("} else {")
            self._print_nested(op.false_region.block, variables)
        self._line("}")
        for result in op.output:
            self._silence_if_unused(result)

    def _print_nested(self, block: Block, variables: Sequence[str]) -> None:
        """Prints a block that ends by assigning the values that it yields to `variables`."""
        self._depth += 1
        self._print_block(block)
        terminator = block.last_op
        if isinstance(terminator, scf.YieldOp):
            self._assign(variables, terminator.arguments)
        self._depth -= 1

    def _assign(self, variables: Sequence[str], values: Sequence[SSAValue]) -> None:
        """Assigns all values at once: none sees a variable that was assigned before it."""
        texts = [self._text(value) for value in values]
        for position, value in enumerate(values):
            if any(_mentions(texts[position], variable) for variable in variables[:position]):
                name = self._names.fresh(None)
                self._line(f"const {self._value_type_of(value)} {name} = {texts[position]};")
                texts[position] = name
        for variable, text in zip(variables, texts, strict=True):
            if variable != text:
                self._line_with_decimals(f"{variable} = {text};")

    def _value_type_of(self, value: SSAValue) -> str:
        return value_type(self._function, value.type)


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def _comment(line: str) -> str:
    """A line comment that holds `line` and nothing that C would read on into the next line."""
    text = "".join(c if " " <= c <= "~" else "?" for c in line.expandtabs()).rstrip()
    # A line that ends in a backslash, or in the trigraph for one, would swallow the next.
    return f"// {text}." if text.endswith(("\\", "??/")) else f"// {text}".rstrip()


def _packed(start: str, parts: Sequence[str], end: str) -> list[str]:
    """`start`, the parts between commas, and `end`, on lines of at most the usual length."""
    lines = [start]
    for position, part in enumerate(parts):
        text = part + (end if position == len(parts) - 1 else ",")
        first = lines[-1] is start
        if len(lines[-1]) + len(text) + 1 > _LINE_LENGTH and not first:
            lines.append(_INDENT * 2 + text)
        else:
            lines[-1] += text if first else " " + text
    return lines
