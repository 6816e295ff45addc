import os

import sealwax

codec = sealwax.Codec(keys=os.environ["SEALWAX_KEYS"], audience="https://mcp.example.com")

alice = codec.view(subject="alice")  # from a verified credential
token = alice.cursor("tools/list").seal(b"page 2")
print(alice.cursor("tools/list").open(token).payload.decode())

try:
    codec.view(subject="mallory").cursor("tools/list").open(token)
except sealwax.Refused as refused:
    print(refused.code)  # for the log
    print(sealwax.answer("cursor", refused))  # for the client
