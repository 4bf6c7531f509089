"""Loops of Python's in a recording: a `while` or `for` whose variables come back as they were becomes a `while_loop`.

A recording sees a loop of Python's round by round, and the number of rounds is part of the path. But if the variables
of a frame at a truth test are as they were at the last test in the same place, but for the values of handles and for
numbers, the next round is captured on its own (`python_rounds.py`), with handles for all that has changed. If it comes
back to the test with everything else as it was, it is all there is to the loop: Python would do the same with other
values, for as long as each decision in the round comes out as it did. So it becomes the body of a `while_loop`, whose
condition says that they do (`python_ways.py`), and which takes the remaining rounds at once. Python goes on from the
test with variables as they are then. The last round, in which something is decided differently, is recorded as usual: a
`break`, a counter that has come to its end, a way that was not captured.

What may not happen in a round, so that this is right: effects, changes of anything that can be reached from the
variables (`capture/recording/variables.py`), updates in place but of arrays that are variables. Nothing but the
variables and the iterators of ranges may decide what comes next (`host/frames/branch_points.py`). If the captured round
is not what it seemed, the function is recorded once more without this loop. The rounds that are compared are recorded
as usual, hence a loop has a few paths: for no round, for one, and so on up to those, and then one for any number.
"""

from __future__ import annotations

from collections import Counter
from types import FrameType
from typing import Any

from ...capture.recording.iterating import RangeItems
from ...capture.recording.variables import FrameScope
from ...core.errors import user_line
from ...core.traced import LOCAL, Traced
from ...core.values import dtype_of
from ...host.frames.branch_points import may_come_back, test_of
from ...host.frames.ownership import is_users_code
from ...host.frames.variables import instruction_of
from ...ir.capture import CaptureTrace
from ...ir.effects import effects_so_far
from ...ir.loops import LoopPrimitive
from .loop_iteration import Place, Round, RoundTest, Visit, begun
from .loop_paths import finished_loop, more_carried, way_of

MOST_WAYS = 8
"""Through a round; if there are more, only the first one is looked at."""
SHORT = 8
MOST_SHORT = 4
"""How often a loop may have ended after a few rounds: then its rounds differ, and are recorded one by one."""


TRIES = 2
"""Recordings in which a loop may turn out to be none, before it is no longer tried."""
MOST_KNOWN = 1000


class Experience:
    """What earlier recordings have shown: to begin in vain costs a second recording."""

    def __init__(self) -> None:
        self.refused: Counter[Place] = Counter()
        self.one_way: set[Place] = set()
        """Tests that are not to be taken both ways."""

    def note(self, under_way: Round) -> None:
        """Learn from a round that did not come to its end."""
        if under_way.script:  # it was on a way that its values do not take
            self.one_way.add(under_way.decisions[len(under_way.script) - 1].place)
        elif under_way.capture.refused:
            self.refused[under_way.start.place] += 1
        if len(self.refused) + len(self.one_way) > MOST_KNOWN:
            self.refused.clear()
            self.one_way.clear()


_experience = Experience()


class PythonLoops:
    """Sees the truth tests of one recording."""

    def __init__(self) -> None:
        self._refused: set[Place] = set()
        self.begin()

    def begin(self) -> None:
        """Before a function is recorded, for the first time or once more."""
        self._visits: dict[Any, Visit] = {}
        """The last one of each place, frame and program."""
        self._rounds: list[Round] = []
        """Those that are being captured, the inner ones last."""
        self._iterators: dict[tuple[int, int], tuple[FrameType, RangeItems]] = {}
        self._decisions: list[tuple[FrameType, Place, bool]] = []
        self._short: Counter[Place] = Counter()
        self.lines: list[str] = []
        """Where there are loops."""
        self._updates: list[tuple[Any, Any]] | None = None
        """What was known of updates in place before the outermost round."""
        self.has_started = False
        """Whether this recording has captured a round: if it fails, the loop may be why."""

    def end(self) -> None:
        """After that, however it ended."""
        LOCAL.updates, LOCAL.supposes = None, 0

    @property
    def is_in_a_round(self) -> bool:
        """Whether a round is being captured."""
        return bool(self._rounds)

    def failed(self) -> bool:
        """Whether the recording cannot be used, as a round was not what it seemed: then not to be tried again."""
        if not self._rounds:
            return False
        under_way = self._rounds[-1]
        _experience.note(under_way)
        if not under_way.script:
            self._refused.add(under_way.start.place)
        return True

    def forget(self) -> None:
        """Begin no round that reaches back to before now: handles have been given new numbers."""
        self._visits.clear()

    def iterated(self, frame: FrameType, place: int, items: range) -> Any:
        """What the `for` at this place of a frame is to take its items from."""
        found = RangeItems(items)
        self._iterators[id(frame), place] = frame, found
        return found

    def iterating(self, frame: FrameType, place: int) -> RangeItems | None:
        """What the `for` at a place of a frame takes its items from, if that is known."""
        known = self._iterators.get((id(frame), place))
        return None if known is None else known[1]

    def truth(self, x: Traced, frame: FrameType) -> bool:
        """The outcome of a test, or that of the one which ends the loop it belongs to."""
        capture: Any = x.traced_by
        place = instruction_of(frame)
        under_way = self._rounds[-1] if self._rounds else None
        if under_way is None or under_way.start.frame is not frame or under_way.start.place != place:
            return self._decided(x, capture, frame, place)
        if capture is not under_way.capture and capture not in under_way.around:
            under_way.refuse()  # else it is the same in each round that goes this way
        return self._came_back(under_way, x)

    def _decided(self, x: Traced, capture: CaptureTrace, frame: FrameType, place: Place) -> bool:
        under_way = self._rounds[-1] if self._rounds else None
        if under_way is None:
            outcome = bool(capture.decided(x))
            self._visited(x, capture, frame, outcome)
        elif capture is not under_way.capture:
            return bool(capture.decided(x))  # once for all rounds
        else:
            start = under_way.start
            outcome, can_differ = under_way.decide(x, frame, place)
            can_differ = can_differ and place not in _experience.one_way
            can_differ = can_differ and may_come_back(frame, start.frame, start.place[1], outcome)
            under_way.decisions.append(RoundTest(place, outcome, can_differ))
            if not LOCAL.supposes:
                self._visited(x, capture, frame, outcome)
        self._decisions.append((frame, place, outcome))
        return outcome

    def _visited(self, x: Traced, capture: CaptureTrace, frame: FrameType, outcome: bool) -> None:
        """Look at the variables, and begin to capture a round if they are as they were the last time."""
        place = instruction_of(frame)
        last = self._visits.pop((capture, frame, place), None)
        test = test_of(frame)
        if test is None or place in self._refused or not is_users_code(frame):
            return
        if _experience.refused[place] >= TRIES:
            return
        if capture.plain_truths or dtype_of(x).kind != "b" or capture.conditions() is not None:
            return
        iterators = [self.iterating(frame, loop) for loop in test.loops]
        if None in iterators:
            return
        scope = FrameScope(frame, test.live, iterators)
        variables = scope.now()
        if variables is None:
            return
        now = Visit(frame, place, scope, variables, outcome, x.value, effects_so_far(), len(self._decisions))
        self._visits[capture, frame, place] = now
        if last is None or last.outcome != outcome or last.effects != now.effects:
            return
        if not variables.is_like(last.variables):
            return
        around = [*[under_way.outer for under_way in self._rounds], capture]
        updates = LOCAL.updates
        found = begun(last, now, around, self, self._usual(last))
        if found is not None:
            self._updates = self._updates if self._rounds else updates
            self._rounds.append(found)
            self.has_started = True

    def _usual(self, last: Visit) -> dict[tuple[FrameType, Place], bool]:
        """What was decided once in the last round: so it is in all rounds but the last one."""
        made = self._decisions[last.decisions + 1 :]
        times = Counter([(frame, place) for frame, place, _ in made])
        return {(frame, place): outcome for frame, place, outcome in made if times[frame, place] == 1}

    def _came_back(self, under_way: Round, x: Traced) -> bool:
        """A way through a round has come to its end: try another one, or take the other rounds."""
        start, script = under_way.start, under_way.script
        LOCAL.supposes = 0
        way = way_of(under_way, x)
        more = more_carried(under_way) if way is None and script else []
        if way is None and not more:
            under_way.refuse()
        if way is None:
            under_way.leave()
            under_way.carried = sorted([*under_way.carried, *more])
            under_way.ways, under_way.waiting = [], []
            under_way.enter([])
            return start.outcome
        under_way.ways.append(way)
        if not any([isinstance(step.primitive, LoopPrimitive) for step in way.body.program.steps]):
            self._branch(under_way)
        if len(under_way.ways) + len(under_way.waiting) > MOST_WAYS:
            under_way.ways, under_way.waiting = under_way.ways[:1], []
        if under_way.waiting:
            under_way.leave()
            under_way.enter(under_way.waiting.pop())
            return start.outcome
        return self._finished(under_way)

    def _branch(self, under_way: Round) -> None:
        """Note the ways that begin as this one."""
        made = under_way.decisions
        times = Counter([decision.place for decision in made])
        for k in range(len(under_way.script), len(made)):
            if made[k].can_differ and times[made[k].place] == 1:
                under_way.waiting.append([*[d.outcome for d in made[:k]], not made[k].outcome])

    def _finished(self, under_way: Round) -> bool:
        """Take the other rounds, and let the variables be what they are afterwards."""
        start = under_way.start
        outcome, taken = finished_loop(under_way)
        self._rounds.pop()
        if not self._rounds:
            LOCAL.updates = self._updates
        self._visits.pop((under_way.outer, start.frame, start.place), None)
        self._short[start.place] += taken < SHORT
        if self._short[start.place] > MOST_SHORT:
            self._refused.add(start.place)
        self._decisions.append((start.frame, start.place, outcome))
        self.lines.append(user_line())
        return outcome
