const WEIGHTS = [8, 4, 1];

/** What matches every word that was typed, best first; a slip of the keyboard is forgiven in words of four letters. */
export function searched<T>(query: string, items: readonly T[], textsOf: (item: T) => readonly string[]): T[] {
  const words = wordsOf(query);
  if (words.length === 0) return [...items];
  const scored: { item: T; score: number; place: number }[] = [];
  items.forEach((item, place) => {
    const score = scoreOf(words, textsOf(item));
    if (score > 0) scored.push({ item, score, place });
  });
  return scored.sort((a, b) => b.score - a.score || a.place - b.place).map((one) => one.item);
}

function scoreOf(words: string[], texts: readonly string[]): number {
  let sum = 0;
  for (const word of words) {
    let best = 0;
    texts.forEach((text, index) => {
      const weight = WEIGHTS[Math.min(index, WEIGHTS.length - 1)] ?? 1;
      for (const candidate of wordsOf(text)) best = Math.max(best, weight * closeness(word, candidate));
    });
    if (best === 0) return 0;
    sum += best;
  }
  return sum;
}

function closeness(word: string, candidate: string): number {
  if (word === candidate) return 1;
  if (candidate.startsWith(word)) return 0.8;
  if (word.length >= 3 && candidate.includes(word)) return 0.5;
  const slips = word.length >= 8 ? 2 : word.length >= 4 ? 1 : 0;
  if (slips === 0) return 0;
  const start = candidate.slice(0, word.length + slips);
  return distance(word, candidate, slips) <= slips || distance(word, start, slips) <= slips ? 0.4 : 0;
}

function wordsOf(text: string): string[] {
  return text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}

/** Letters added, left out, changed or swapped between two words; more than `most` is not counted on. */
export function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) next.push(step(a, b, i, j, { before, row, next }));
    before = row;
    row = next;
  }
  return row[b.length] ?? most + 1;
}

function step(a: string, b: string, i: number, j: number, rows: Record<"before" | "row" | "next", number[]>): number {
  const cost = a[i - 1] === b[j - 1] ? 0 : 1;
  const at = (row: number[], column: number) => row[column] ?? 0;
  const value = Math.min(at(rows.row, j) + 1, at(rows.next, j - 1) + 1, at(rows.row, j - 1) + cost);
  const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
  return swapped ? Math.min(value, at(rows.before, j - 2) + 1) : value;
}
