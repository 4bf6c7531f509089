"""The page that steps through the sweeps."""
