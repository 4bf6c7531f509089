"""Steps that are not elementwise: joins, gathers, products, loops."""
