"""The command ``sealwax``: arguments, input and output. What it does is in the C library."""
