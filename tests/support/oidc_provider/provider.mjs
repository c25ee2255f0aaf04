// A provider of the certified npm package oidc-provider, with its own pages for signing in and consenting.
// Reads one JSON object from standard input, prints its issuer when it listens, and ends with its parent.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import Provider from 'oidc-provider';

const key = (kind, options) => generateKeyPairSync(kind, options).privateKey.export({ format: 'jwk' });
const keys = [
  key('rsa', { modulusLength: 2048 }),
  key('ec', { namedCurve: 'P-256' }),
  { ...key('ed25519'), alg: 'Ed25519' },
];

const start = ({ clients, accounts, claimsInIdToken }) => {
  const server = createServer();
  server.listen(0, '127.0.0.1', () => {
    const issuer = `http://127.0.0.1:${server.address().port}`;
    const provider = new Provider(issuer, {
      clients,
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      conformIdTokenClaims: !claimsInIdToken,
      cookies: { keys: ['a key for tests'] },
      findAccount: (_context, id) =>
        accounts[id] && { accountId: id, claims: async () => ({ sub: id, ...accounts[id] }) },
      jwks: { keys },
      pkce: { required: () => true },
    });
    server.on('request', provider.callback());
    console.log(issuer);
  });
};

const lines = createInterface({ input: process.stdin });
lines.once('line', (line) => start(JSON.parse(line)));
lines.once('close', () => process.exit(0));
