// The site, made of the same pages that GitHub shows: see docs/Makefile.

import { posix } from 'node:path';

import { renderMermaidSVG } from 'beautiful-mermaid';
import GithubSlugger from 'github-slugger';
import { defineConfig } from 'vitepress';

const REPOSITORY = 'https://github.com/sealwax/sealwax';
const RAW = 'https://raw.githubusercontent.com/sealwax/sealwax/main/';

const page = (text, link) => ({ text, link });
const group = (text, ...items) => ({ text, items });

export default defineConfig({
  title: 'Sealwax',
  description: 'Seals the state that an MCP (Model Context Protocol) server hands to its clients',
  lang: 'en',
  cleanUrls: true,
  lastUpdated: false,
  srcDir: 'pages',
  outDir: 'site',
  rewrites: { 'README.md': 'index.md' },
  // Those of GitHub, so that a link works in both places.
  markdown: { anchor: { slugify: (text) => new GithubSlugger().slug(text) }, config: likeGithub },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    nav: [page('Documentation', '/docs/'), page('Changes', '/CHANGELOG')],
    sidebar: [
      group(
        'First steps',
        page('TypeScript', '/docs/start/typescript'),
        page('Python', '/docs/start/python'),
        page('Rust', '/docs/start/rust'),
        page('Go', '/docs/start/go'),
        page('Java', '/docs/start/java'),
        page('C', '/docs/start/c'),
      ),
      group(
        'How to',
        page('The user', '/docs/principal'),
        page('requestState', '/docs/request-state'),
        page('Confirmations', '/docs/confirm'),
        page('Sessions', '/docs/sessions'),
        page('Cursors and handles', '/docs/handles'),
        page('Links', '/docs/links'),
        page('Pages of a result', '/docs/pages'),
        page('Keys', '/docs/keys'),
        page('Ledger', '/docs/ledger'),
        page('Operating', '/docs/operating'),
        page('Testing', '/docs/testing'),
        page('Migrating', '/docs/migrating'),
      ),
      group(
        'Recipes',
        page('All, and their server', '/docs/recipes/'),
        page('Express and Hono', '/docs/recipes/express-hono'),
        page('Next.js', '/docs/recipes/nextjs'),
        page('AWS Lambda', '/docs/recipes/lambda'),
        page('Cloudflare Workers', '/docs/recipes/workers'),
        page('Bun and Deno', '/docs/recipes/bun-deno'),
        page('FastAPI and Starlette', '/docs/recipes/fastapi'),
        page('axum', '/docs/recipes/axum'),
        page('A container image', '/docs/recipes/container'),
        page('Accounts at another service', '/docs/recipes/oauth'),
      ),
      group(
        'Background',
        page('What can be sealed', '/docs/tokens'),
        page('The API, by language', '/docs/api'),
        page('Refusals', '/docs/refusals'),
        page('Security', '/SECURITY'),
        page('Assurance', '/docs/assurance'),
        page('SDKs and revisions', '/docs/systems'),
        page('Platforms', '/docs/platforms'),
        page('Proposals', '/docs/proposals'),
        page('Speed', '/docs/speed'),
        page('FAQ', '/docs/faq'),
      ),
      group(
        'Specification',
        page('Token format', '/SPEC'),
        page('Ledger', '/LEDGER'),
        page('Guard’s engine', '/docs/engine'),
        page('WASI module', '/bindings/c/portable'),
      ),
      group(
        'Contributing',
        page('Architecture', '/ARCHITECTURE'),
        page('Contributing', '/CONTRIBUTING'),
        page('Releasing', '/release/README'),
      ),
    ],
  },
});

/** Links and pictures lead to the site where it has them, and diagrams are drawn. */
function likeGithub(md) {
  md.core.ruler.push('links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      for (const token of children ?? []) {
        if (token.type === 'link_open') token.attrSet('href', linked(token.attrGet('href'), env));
        if (token.type === 'image') token.attrSet('src', pictured(token.attrGet('src'), env));
      }
    }
  });
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, at, ...rest) =>
    tokens[at].info === 'mermaid'
      ? drawn(tokens[at].content, md.utils)
      : fence(tokens, at, ...rest);
}

function linked(href, { relativePath }) {
  const here = `${REPOSITORY}/blob/main/`;
  if (href.startsWith(here)) {
    const path = href.slice(here.length);
    return /\.md(#|$)/.test(path) ? `/${path}` : href;
  }
  // Other files of the repository are on GitHub alone.
  if (/^([a-z]+:|#)/.test(href) || /\.md(#|$)/.test(href)) return href;
  return here + posix.join(posix.dirname(relativePath), href);
}

function pictured(src, { relativePath }) {
  if (!src.startsWith(RAW)) return src;
  const path = posix.relative(posix.dirname(relativePath), src.slice(RAW.length));
  return path.startsWith('.') ? path : `./${path}`;
}

function drawn(diagram, { escapeHtml }) {
  const [bg, fg] = ['var(--vp-c-bg)', 'var(--vp-c-text-1)'];
  const svg = renderMermaidSVG(diagram, { bg, fg, muted: fg, transparent: true })
    // Nothing is loaded from elsewhere.
    .replace(/@import url\([^)]*\);/, '');
  // Vue takes no `<style>` in a template.
  return `<div style="overflow-x: auto" v-html="${escapeHtml(JSON.stringify(svg))}"></div>`;
}
