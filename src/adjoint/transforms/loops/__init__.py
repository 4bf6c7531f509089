"""Loops and branches that stay loops and branches.

`loops.py` has what the user calls; `bodies.py` and `capture.py` make programs of the functions given to it, and
`fallback.py` takes over where they decide by values. `scan.py`, `while_loop.py`, `cond.py` and `recomputing.py` are the
primitives, whose operands stand in the records of `ir/loops.py`. What derivatives and batches of all of them have in
common is in `body_rules.py` and `step_back.py`. On plain values, loops are run by `evaluate.py` and `running.py`.
Loops and branches of Python itself are found in `transforms/control`.
"""
