"""The transcripts of guard.json: a module for each subject."""
