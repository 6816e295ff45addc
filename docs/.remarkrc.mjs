// Checks the links of every page: see docs/Makefile, whose `npm ci` installs these beside the site.

const installed = (name) => new URL(`../build/docs/node_modules/${name}/index.js`, import.meta.url);

export default {
  plugins: [
    (await import(installed('remark-gfm'))).default,
    [
      (await import(installed('remark-validate-links'))).default,
      { repository: 'sealwax/sealwax', root: new URL('..', import.meta.url).pathname },
    ],
  ],
};
