"""The guard at the SDK's handlers."""
