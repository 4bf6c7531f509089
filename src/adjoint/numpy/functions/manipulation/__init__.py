"""Array manipulation routines: shapes, axes, joining, splitting, rearranging."""
