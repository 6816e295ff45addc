"""A replica in Python: `open`, or `renew PAYLOAD`, the session whose metadata is on stdin."""

import json
import os
import sys

import sealwax

codec = sealwax.Codec.from_env(audience="https://mcp.example.com")
sessions = codec.view(subject=os.environ["DEMO_USER"]).sessions()

try:
    session = sessions.open(json.load(sys.stdin))
except sealwax.Refused as refused:
    print(json.dumps(sealwax.answer("data-layer", refused)))
    sys.exit(f"{refused.code}: {refused}")
print(
    f"{session.payload.decode()} (generation {session.generation}, needs_reseal {str(session.needs_reseal).lower()})",
    file=sys.stderr,
)
if sys.argv[1] == "renew":
    print(json.dumps(sessions.renew(session, sys.argv[2].encode())))
