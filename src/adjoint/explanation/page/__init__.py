"""The page that steps through both sweeps."""
