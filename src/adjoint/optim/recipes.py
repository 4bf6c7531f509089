"""How an optimiser was made, so that it can be pickled: made again from the same arguments."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Recipe(NamedTuple):
    """A function and what it was called with."""

    make: Callable[..., Any]
    args: tuple[Any, ...]
    options: dict[str, Any]

    def again(self) -> Any:
        """What it gives."""
        args = [_thawed(x) for x in self.args]
        return self.make(*args, **{name: _thawed(x) for name, x in self.options.items()})

    def frozen(self) -> Recipe:
        """The same, with recipes in the place of schedules, which are functions and cannot be pickled themselves."""
        args = tuple([_frozen(x) for x in self.args])
        return Recipe(self.make, args, {name: _frozen(x) for name, x in self.options.items()})


def again(recipe: Recipe) -> Any:
    """What a recipe gives."""
    return recipe.again()


def _frozen(x: Any) -> Any:
    found = getattr(x, "recipe", None) if isinstance(x, types.FunctionType) else None
    return x if found is None else found.frozen()


def _thawed(x: Any) -> Any:
    return x.again() if isinstance(x, Recipe) else x


def remembered(make: Callable[P, R]) -> Callable[P, R]:
    """A decorator: what a function makes, an optimiser or a schedule, knows how it was made."""
    recipe = Recipe

    def made(*args: P.args, **options: P.kwargs) -> R:
        found: Any = make(*args, **options)
        knows = getattr(found, "update", found)
        knows.recipe = recipe(own, args, options)
        return found  # type: ignore[no-any-return]

    # in the module of the function itself, where doctest looks for examples
    own: Any = types.FunctionType(made.__code__, make.__globals__, closure=made.__closure__)
    return functools.update_wrapper(own, make)
