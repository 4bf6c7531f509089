"""The trace as people look at it: tables, graphs, counts."""
