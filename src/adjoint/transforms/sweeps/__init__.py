"""Sweeps over recorded traces: back with cotangents, forward with tangents, for one vector or for a whole basis."""
