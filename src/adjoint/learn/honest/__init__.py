"""What a careful person would do, in one call: calibrated probabilities, sets or intervals, decisions by cost."""
