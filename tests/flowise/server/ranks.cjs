// Preloaded into the Flowise under test. Token ranks, which LangChain would fetch, come from the installed package;
// nothing else is fetched from beyond this machine.
const { createRequire } = require('node:module')

const RANKS = 'https://tiktoken.pages.dev/js/'
const HERE = new Set(['127.0.0.1', 'localhost', '[::1]'])
const installed = createRequire(`${process.cwd()}/`)
const fetched = globalThis.fetch

globalThis.fetch = async (resource, options) => {
  const address = String(resource?.url ?? resource)
  if (address.startsWith(RANKS)) {
    const ranks = installed(`js-tiktoken/ranks/${address.slice(RANKS.length).replace(/\.json$/, '')}`)
    return Response.json(ranks.default ?? ranks)
  }
  if (!HERE.has(new URL(address).hostname)) throw new TypeError(`not fetched in tests: ${address}`)
  return fetched(resource, options)
}
