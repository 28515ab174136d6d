"""What is kept on disk and in the OS keyring. Never Qt."""
