"""Hints for the arguments of public functions, and the decorator that asks for what they say at the entrance."""

from .core.arguments import ArgumentKind as ArgumentKind
from .core.arguments import Array as Array
from .core.arguments import Axis as Axis
from .core.arguments import Base as Base
from .core.arguments import Count as Count
from .core.arguments import DTypeLike as DTypeLike
from .core.arguments import Fraction as Fraction
from .core.arguments import Index as Index
from .core.arguments import NonNegative as NonNegative
from .core.arguments import Numbers as Numbers
from .core.arguments import NumericDType as NumericDType
from .core.arguments import Positive as Positive
from .core.arguments import RealNumbers as RealNumbers
from .core.arguments import Seed as Seed
from .core.arguments import Shape as Shape
from .core.arguments import Size as Size
from .core.arguments import checked as checked
from .core.arguments import number as number
from .core.arguments import one_of as one_of
from .core.arguments import whole as whole
