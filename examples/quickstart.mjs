import { Codec, requestContext } from 'sealwax';

const codec = Codec.fromEnv({ audience: 'https://mcp.example.com' });

// A tool asks something back: what it knows so far goes to the client, sealed.
const call = requestContext('tools/call', 'delete_note', { id: 7 });
const alice = codec.view({ subject: 'alice' });
const requestState = alice.requestState(call).sealJson({ asked: 'Delete note 7?' });

// The client retries the call with the answer and the state.
console.log(alice.requestState(call).open(requestState).json());

// Nobody else can, nor can she for another note.
const mallory = codec.view({ subject: 'mallory' });
const another = requestContext('tools/call', 'delete_note', { id: 8 });
for (const sealer of [mallory.requestState(call), alice.requestState(another)]) {
  try {
    sealer.open(requestState);
  } catch (error) {
    console.log(error.code);
  }
}
