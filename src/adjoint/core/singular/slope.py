"""`Slope`: what is known of a step where its partial is 0 or infinite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..types import Mask

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ...host.records import NamedTuple


class Slope(NamedTuple):
    """What is known of a step where its partial is 0 or infinite; each a truth value, or an array of them."""

    smooth: Mask = False
    """Whether it is smooth where the partial is 0."""
    even: Mask = False
    """Whether it goes as an even power there."""
    bent: Mask = False
    """Whether the second derivative is not 0 there."""
    steep: Mask = False
    """Whether it rises faster than a square root where the partial is infinite."""
    kinked: Mask = False
    """Whether a partial of 0 is the mean of two sides."""


KINK = Slope(kinked=True)
UNKNOWN, EVEN, PRODUCT = Slope(), Slope(smooth=True, even=True, bent=True), Slope(smooth=True, bent=True)
