#!/bin/sh
# The tests against one mutant, those first that kill most; one process each, for the transcripts stop the clock.
cd consumer
for test in transcripts guard accept exchanges transition options events attacks sealing public-pages otel freed; do
  node --test --test-isolation=none --test-reporter=./bail.mjs $test.test.mjs || exit 1
done
