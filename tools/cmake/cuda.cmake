# Set by the CUDA backend.
