/**
 * How well what was typed finds a text: 0 not at all, 1 best. Each word must be in it, as its beginning, as a part,
 * or as letters in the same order of one of its words.
 */
export function fuzzyScore(typed: string, label: string, more = ""): number {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return 1;
  const name = label.toLowerCase();
  const rest = more.toLowerCase();
  const scores = words.map((word) => Math.max(scoreOf(word, name), 0.6 * scoreOf(word, rest)));
  if (scores.some((score) => score === 0)) return 0;
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  return name.startsWith(typed.trim().toLowerCase()) ? 1 : 0.95 * mean;
}

const BETWEEN = /[^\p{L}\p{N}]+/u;

function scoreOf(word: string, text: string): number {
  if (text.startsWith(word)) return 1;
  const parts = text.split(BETWEEN);
  if (parts.some((part) => part.startsWith(word))) return 0.9;
  if (text.includes(word)) return 0.7;
  if (word.length < 3) return 0;
  if (parts.join("").includes(word)) return 0.6;
  return Math.max(...parts.map((part) => Math.max(scattered(word, part), inflected(word, part))));
}

const STEM = 4;

/** Another form of the word, as `nyckel` of `nycklar`: all but the last two letters are the same. */
function inflected(word: string, part: string): number {
  const stem = word.slice(0, Math.max(STEM, word.length - 2));
  return word.length > STEM && part.startsWith(stem) && part.length - word.length <= STEM ? 0.4 : 0;
}

/** The letters in order from the beginning of a part: the fewer others are between them, the better. */
function scattered(word: string, part: string): number {
  if (part[0] !== word[0]) return 0;
  let at = 0;
  for (const letter of word) {
    at = part.indexOf(letter, at) + 1;
    if (at === 0) return 0;
  }
  return at <= 2 * word.length ? (0.5 * word.length) / at : 0;
}
