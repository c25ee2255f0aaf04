// Beside every text file of the built page: the same in Brotli and gzip, which the server sends as they are.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const folder = process.argv[2];
const LEAST_BYTES = 1024;

for (const name of readdirSync(folder, { recursive: true })) {
  const path = join(folder, name);
  if (!/\.(js|css|svg)$/.test(name) || statSync(path).size < LEAST_BYTES) continue;
  const content = readFileSync(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
}
