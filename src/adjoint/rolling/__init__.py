"""Python loops that were recorded step by step, as loops."""
