"""Messages between processes: frames, gRPC, shared memory."""
