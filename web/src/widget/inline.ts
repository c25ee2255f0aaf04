import { el } from "./dom";

type Words = (Node | string)[];
const DEEPEST = 8;
const INLINE = new RegExp(
  [
    /(?<ticks>`+)(?<code>[^`]|[^`][\s\S]{0,2000}?[^`])\k<ticks>(?!`)/,
    /!\[(?<picture>[^\]\n]{0,300})\]\([^)\n]{0,2000}\)/,
    /\[(?<label>[^\]\n]{1,500})\]\((?<target>[^()\s]{1,2000})\)/,
    /(?<address>https?:\/\/[^\s<>()[\]"']{1,2000}[^\s<>()[\]"'.,;:!?])/,
    /\*\*(?=\S)(?<strong>[^*\n]{1,2000})\*\*/,
    /__(?=\S)(?<strong2>[^_\n]{1,2000})__/,
    /\*(?=\S)(?<mild>[^*\n]{1,2000})\*/,
    /\b_(?=\S)(?<mild2>[^_\n]{1,2000})_\b/,
    /~~(?=\S)(?<gone>[^~\n]{1,2000})~~/,
    /\\(?<sign>[\\`*_{}[\]()#+\-.!|>~])/,
  ]
    .map((one) => one.source)
    .join("|"),
);

const DRAWN: Record<string, (words: string, all: Record<string, string>, depth: number) => Node | string> = {
  code: (words) => el("code", {}, words.replace(/^ (.+) $/, "$1")),
  picture: (words) => words && `[${words}]`,
  label: (words, all, depth) => link(all.target ?? "", inline(words, depth)),
  address: (words) => link(words, [words]),
  strong: (words, _, depth) => el("strong", {}, ...inline(words, depth)),
  strong2: (words, _, depth) => el("strong", {}, ...inline(words, depth)),
  mild: (words, _, depth) => el("em", {}, ...inline(words, depth)),
  mild2: (words, _, depth) => el("em", {}, ...inline(words, depth)),
  gone: (words, _, depth) => el("del", {}, ...inline(words, depth)),
  sign: (words) => words,
};

/** A line's words, code, links and stresses. */
export function inline(text: string, depth = 0): Words {
  const found: Words = [];
  let rest = text;
  while (rest) {
    const match = depth < DEEPEST ? INLINE.exec(rest) : null;
    if (!match) return [...found, rest];
    if (match.index > 0) found.push(rest.slice(0, match.index));
    const groups = match.groups ?? {};
    const name = Object.keys(DRAWN).find((one) => groups[one] !== undefined) ?? "";
    found.push(DRAWN[name]?.(groups[name] ?? "", groups, depth + 1) ?? match[0]);
    rest = rest.slice(match.index + match[0].length);
  }
  return found;
}

/** A link where it leads to the web or to mail; of any other only the words stay. */
function link(target: string, words: Words): Node {
  let address: URL | null = null;
  try {
    address = new URL(target);
  } catch {
    // no address: the words stay
  }
  if (!address || !["http:", "https:", "mailto:"].includes(address.protocol)) return el("span", {}, ...words);
  return el("a", { href: address.href, target: "_blank", rel: "noopener noreferrer nofollow" }, ...words);
}
