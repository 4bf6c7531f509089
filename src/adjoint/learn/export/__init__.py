"""Models as ONNX graphs: preprocessing, probabilities, sets, intervals and decisions in one."""
