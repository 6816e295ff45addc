// @ts-nocheck
// A reporter that ends the process at the first test that fails: one is enough to kill a mutant.
import { appendFileSync } from 'node:fs';
// biome-ignore lint/correctness/useYield: node:test takes a generator.
export default async function* bail(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:fail') continue;
    if (process.env.BAIL_LOG)
      appendFileSync(
        process.env.BAIL_LOG,
        `${data.file} ${data.name} ${data.details?.error?.cause ?? ''}\n`,
      );
    process.exit(1);
  }
}
