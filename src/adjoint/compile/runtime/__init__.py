"""What compiled code needs when it runs: LLVM, its cache, threads, BLAS."""
