"""Every step of a derivative, made visible: tables, graph, page, formulas, code. `ad.explain` is in `explain.py`."""
