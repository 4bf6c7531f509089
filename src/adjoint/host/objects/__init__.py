"""What objects hold: one table of edges, and what is done along them: walking, marking what is behind, copying."""
