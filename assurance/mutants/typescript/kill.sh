#!/bin/sh
# The tests against one mutant, those first that kill most.
cd consumer
python3 "$ROOT/tests/driver/run.py" typescript 'node scenario.mjs' || exit 1
for test in guard exchanges options events attacks sealing otel freed; do
  node --test --test-isolation=none --test-reporter=./bail.mjs $test.test.mjs || exit 1
done
