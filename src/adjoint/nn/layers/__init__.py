"""The layers, by topic; `nn` offers them all."""
