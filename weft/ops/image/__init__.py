"""Images and audio."""
