// Makes sealwax take this host for another one than Node, where it draws randomness for each token by
// itself and never for several at once: `node --import ./drawn.mjs bench.mjs`.

const versions = { ...process.versions, bun: '1.0.0' };
Object.defineProperty(process, 'versions', { value: versions });
