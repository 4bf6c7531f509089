"""What the parameters of public functions take, read off their type hints and asked at the entrance."""

from .aliases import Array as Array
from .aliases import Axes as Axes
from .aliases import Axis as Axis
from .aliases import Base as Base
from .aliases import Count as Count
from .aliases import DTypeLike as DTypeLike
from .aliases import Fraction as Fraction
from .aliases import Index as Index
from .aliases import NonNegative as NonNegative
from .aliases import NonNegativeNumbers as NonNegativeNumbers
from .aliases import Numbers as Numbers
from .aliases import NumericDType as NumericDType
from .aliases import Positive as Positive
from .aliases import RealNumbers as RealNumbers
from .aliases import Seed as Seed
from .aliases import Shape as Shape
from .aliases import Size as Size
from .entrance import checked as checked
from .kinds import LARGEST as LARGEST
from .kinds import ArgumentKind as ArgumentKind
from .kinds import number as number
from .kinds import one_of as one_of
from .kinds import whole as whole
