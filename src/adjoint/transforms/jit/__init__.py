"""`jit`: record a function once, run the recording from then on."""
