"""From a Python call to a kernel and back: what is checked, what is passed, what is made."""
