"""Tests of the room that makes machine code."""
