"""The devices of this process and their memory."""
