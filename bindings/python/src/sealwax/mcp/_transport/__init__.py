"""The guard around HTTP and stdio, before the SDK sees a message."""
