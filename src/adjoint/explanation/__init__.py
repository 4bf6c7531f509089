"""Every step of a derivative, for eyes: tables, graph, page, formulas, code. `ad.explain` is in `explain.py`."""
