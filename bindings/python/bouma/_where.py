"""Conditions on particles, from a text such as

    3 < mass <= 5 & velocity[2] > 0 and 'kind of gas' == 2 & x < 0.5

as the command line has them: all of them must hold. What comes out are closed ranges,
exact for every type: "> 3" of an integer is from 4 on, of a real number from the next
double on."""
import math
import re
from typing import Any, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from ._names import unknown
from ._types import constant
from .errors import InvalidError

Number = Union[int, float]

_TOKEN = re.compile(r"""\s*(?:
    (?P<number>[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf\b))
  | (?P<quoted>'[^']*'|"[^"]*")
  | (?P<and>&&?|and\b)
  | (?P<word>[^\W\d]\w*)
  | (?P<compare><=|>=|==|<|>)
  | (?P<part>\[\s*\d+\s*\])
  | (?P<other>\S))""", re.X)

_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


class Range(NamedTuple):
    """The values of a component from low to high, both included; None: no limit."""

    variable: str
    component: int
    low: Optional[Number]
    high: Optional[Number]


class Operand(NamedTuple):
    at: int
    number: Optional[Number]
    variable: str
    component: int


def refuse(text: str, at: int, why: str) -> InvalidError:
    place = "at the end" if at >= len(text) else "at character %d, %r" % (at + 1, text[at:at + 30])
    return InvalidError("where=%r is not understood %s: %s" % (text, place, why), constant("EINVAL"))


def tokens_of(text: str) -> List[Tuple[str, str, int]]:
    found, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        assert match is not None and match.lastgroup is not None
        found.append((match.lastgroup, match.group(match.lastgroup), match.start(match.lastgroup)))
        at = match.end()
    return found + [("end", "", len(text))]


class Parser:
    """variables: name -> (dtype, components); the first is the position."""

    def __init__(self, text: str, variables: Mapping[str, Tuple[np.dtype, int]]):
        self.text, self.variables = text, variables
        self.tokens, self.at = tokens_of(text), 0
        self.ranges: List[Range] = []

    def take(self, *kinds: str) -> Optional[Tuple[str, str, int]]:
        if self.tokens[self.at][0] in kinds:
            self.at += 1
            return self.tokens[self.at - 1]
        return None

    def fail(self, why: str) -> InvalidError:
        return refuse(self.text, self.tokens[self.at][2], why)

    def parse(self) -> List[Range]:
        self.chain()
        while self.take("and"):
            self.chain()
        if not self.take("end"):
            word = self.tokens[self.at][1]
            if word in ("|", "!", "or", "not", "("):
                raise self.fail("conditions are joined by '&' only; read more, and choose with NumPy")
            raise self.fail("'&' or the end was expected")
        return self.ranges

    def chain(self) -> None:
        left = self.operand()
        compared = False
        while True:
            sign = self.take("compare")
            if sign is None:
                if not compared:
                    if self.tokens[self.at][1] in ("!", "="):
                        raise self.fail("the comparisons are <, <=, >, >= and ==")
                    raise self.fail("a comparison was expected: <, <=, >, >= or ==")
                return
            right = self.operand()
            if (left.number is None) == (right.number is None):
                raise refuse(self.text, left.at, "a variable is compared with a number")
            if left.number is None:
                self.add(left, sign[1], right.number)
            else:
                self.add(right, _MIRROR[sign[1]], left.number)
            left, compared = right, True

    def operand(self) -> Operand:
        token = self.take("number")
        if token is not None:
            text = token[1]
            number: Number = int(text) if re.fullmatch(r"[-+]?\d+", text) else float(text)
            return Operand(token[2], number, "", 0)
        token = self.take("word", "quoted")
        if token is None:
            raise self.fail("the name of a variable or a number was expected")
        name = token[1][1:-1] if token[0] == "quoted" else token[1]
        component = 0
        if name not in self.variables and name in ("x", "y", "z"):
            component, name = "xyz".index(name), next(iter(self.variables))
            if component >= self.variables[name][1]:
                raise refuse(self.text, token[2], "positions have %d coordinates" % self.variables[name][1])
            return Operand(token[2], None, name, component)
        if name not in self.variables:
            raise unknown("variable", name, self.variables)
        components = self.variables[name][1]
        part = self.take("part")
        if part is not None:
            component = int(part[1][1:-1])
            if component >= components:
                raise refuse(self.text, part[2], "%s has %d components" % (name, components))
        elif components > 1:
            raise refuse(self.text, token[2], "%s has %d components: write %s[0]" % (name, components, name))
        return Operand(token[2], None, name, component)

    def add(self, operand: Operand, sign: str, number: Any) -> None:
        real = self.variables[operand.variable][0].kind == "f"
        low = least(number, sign == ">", real) if sign in (">", ">=", "==") else None
        high = greatest(number, sign == "<", real) if sign in ("<", "<=", "==") else None
        if (sign, number) in ((">", math.inf), ("<", -math.inf)):
            low, high = math.inf, -math.inf  # no value is beyond the last one
        self.ranges.append(Range(operand.variable, operand.component, low, high))


def least(number: Number, strict: bool, real: bool) -> Number:
    """The lowest value that is above a number, or equal to it if not strict."""
    if isinstance(number, int) and not real:
        return within(number + strict)
    double = double_of(number)
    if double < number or (strict and double == number):
        double = float(np.nextafter(double, math.inf))
    return double


def greatest(number: Number, strict: bool, real: bool) -> Number:
    """The highest value that is below a number, or equal to it if not strict."""
    if isinstance(number, int) and not real:
        return within(number - strict)
    double = double_of(number)
    if double > number or (strict and double == number):
        double = float(np.nextafter(double, -math.inf))
    return double


def within(number: int) -> Number:
    """An integer that C has a type for; infinity stands for those beyond."""
    if number >= 1 << 64:
        return math.inf
    return number if number >= -(1 << 63) else -math.inf


def double_of(number: Number) -> float:
    """A double next to a number."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def parse_where(text: str, variables: Mapping[str, Tuple[np.dtype, int]]) -> List[Range]:
    """The ranges that a text asks for."""
    return Parser(text, variables).parse()
