// node failing-imports.mjs NAME AT: lets the imports of the module fail, from that number in their order and from that call on,
// until one ended the module. Prints what each did, and where to go on.

import assert from 'node:assert/strict';

import { inspect, SealwaxError } from 'sealwax/slim';
import { started } from './exported.mjs';
import { works as worksOf } from './works.mjs';

const calls = new Map();
let failing = { name: '', at: 0 };

class OfTheHost extends Error {}

/** The functions that the module imports, of which one fails. */
function changed(given) {
  const counted = ([name, call]) => {
    calls.set(name, 0);
    const counts = (...args) => {
      calls.set(name, calls.get(name) + 1);
      if (failing.name === name && calls.get(name) === failing.at) throw new OfTheHost(name);
      return call(...args);
    };
    return [name, counts];
  };
  const changes = ([from, functions]) => [
    ...[from, Object.fromEntries(Object.entries(functions).map(counted))],
  ];
  return Object.fromEntries(Object.entries(given).map(changes));
}

started(changed);
const nonces = new Set();
let sealed = 0;
const works = Object.values(
  await worksOf((text) => {
    nonces.add(inspect(text).tokenId);
    sealed += 1;
  }),
);
// What is made when it is first needed is made now.
for (const work of works) work();

/** How the package is after a failure: works all of it, or has all of it ended? */
function state() {
  const outcomes = new Set();
  for (const work of works) {
    try {
      work();
      outcomes.add('works');
    } catch (error) {
      assert.ok(
        error instanceof SealwaxError,
        `${failing.name} ${failing.at}: ${work}: ${error.stack}`,
      );
      assert.equal(error.code, 'internal_error');
      assert.match(error.message, /start this process/);
      assert.equal(error.isRefusal, false);
      outcomes.add('ended');
    }
  }
  assert.equal(outcomes.size, 1, `${failing.name} ${failing.at}: ${[...outcomes]}`);
  return [...outcomes][0];
}

const names = [...calls.keys()].filter((name) => !/throw|init_externref/.test(name));
const outcomes = [];

/** Lets one call fail; returns whether it was made. */
function fails(name, at) {
  calls.set(name, 0);
  failing = { name, at };
  for (const work of works) {
    try {
      work();
    } catch {
      // What it is is no matter: after the failure only.
    }
    if (calls.get(name) < at) continue;
    failing = { name, at: -at };
    outcomes.push({ name, outcome: state() });
    return true;
  }
  return false;
}

let [name, at] = process.argv.slice(2).map(Number);
while (name < names.length && outcomes.at(-1)?.outcome !== 'ended') {
  if (fails(names[name], at)) at += 1;
  else [name, at] = [name + 1, 1];
}
assert.equal(nonces.size, sealed);
console.log(JSON.stringify({ outcomes, ...(name < names.length && { next: { name, at } }) }));
