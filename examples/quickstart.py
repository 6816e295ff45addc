import sealwax

codec = sealwax.Codec.from_env(audience="https://mcp.example.com")

# A tool asks something back: what it knows so far goes to the client, sealed.
call = sealwax.request_context("tools/call", "delete_note", {"id": 7})
alice = codec.view(subject="alice")  # from a verified credential
request_state = alice.request_state(call).seal_json({"asked": "Delete note 7?"})

# The client retries the call with the answer and the state.
print(alice.request_state(call).open(request_state).json())

# Nobody else can, nor can she for another note.
mallory = codec.view(subject="mallory")
another = sealwax.request_context("tools/call", "delete_note", {"id": 8})
for sealer in [mallory.request_state(call), alice.request_state(another)]:
    try:
        sealer.open(request_state)
    except sealwax.Refused as refused:
        print(refused.code)  # for the log; what the client hears is sealwax.answer(…)
