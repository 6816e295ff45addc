#!/bin/sh
# The package with all mutants in it, of which an environment variable chooses one, where the tests import it from.
set -e
cd pkg
node build.mjs
cp -r dist ../consumer/node_modules/sealwax/
