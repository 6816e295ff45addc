/** An `accept` of an author's own: a state is good once, and what ended has ended. */
export function once() {
  const over = new Set();
  const name = ({ kind, id }) => `${kind} ${id}`;
  return {
    accept(token) {
      if (over.has(name(token))) return false;
      if (token.kind === 'request-state') over.add(name(token));
      return true;
    },
    ended: (token) => void over.add(name(token)),
  };
}
