// One file that needs no other: the script and the style stand in the page, which names their hashes and lets nothing
// else run.

import { createHash } from 'node:crypto';

const here = (path) => new URL(path, import.meta.url).pathname;

export default {
  root: here('.'),
  // The package as it is packed.
  resolve: {
    alias: { sealwax: here('../build/npm/consumer/node_modules/sealwax/dist/esm/index.js') },
  },
  build: {
    outDir: here('../build/inspector'),
    emptyOutDir: false,
    target: 'es2022',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
  plugins: [{ name: 'one-file', enforce: 'post', generateBundle: inline }],
};

function inline(_, bundle) {
  const page = bundle['index.html'];
  const others = Object.values(bundle).filter((file) => file !== page);
  const [script, ...scripts] = others.filter((file) => file.type === 'chunk');
  const [style, ...styles] = others.filter((file) => file.type === 'asset');
  if (scripts.length + styles.length > 0) throw new Error('expected one script and one style');

  const code = script.code.replaceAll('</script', '<\\/script');
  const rules = String(style.source);
  page.source = [
    [/<script[^>]*src=[^>]*><\/script>/, ''],
    [/<link rel="stylesheet"[^>]*>/, `<style>${rules}</style>`],
    ['</body>', `<script type="module">${code}</script></body>`],
    ["script-src 'self'", `script-src ${hash(code)}`],
    ["style-src 'self'", `style-src ${hash(rules)}`],
  ].reduce(replaced, page.source);
  for (const file of others) delete bundle[file.fileName];
}

/** By a function, for a script may hold what a replacement text would expand. */
function replaced(source, [pattern, text]) {
  const done = source.replace(pattern, () => text);
  if (done === source) throw new Error(`the page has no ${pattern}`);
  return done;
}

function hash(text) {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
