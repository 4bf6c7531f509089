"""From a call to a trace that can be shown."""
