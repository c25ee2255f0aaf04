interface Described {
  id: string;
  title: string;
  description: string;
  tags: readonly string[];
}

/** The templates that say every one of these words as they are shown: the server knows English words only. */
export function inWords<T extends Described>(templates: readonly T[], query: string): T[] {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return [];
  return templates.filter((one) => {
    const said = [one.title, one.description, ...one.tags].join(" ").toLowerCase();
    return wanted.every((word) => said.includes(word));
  });
}

/** Both lists as one, the first one's order first, each template once. */
export function unite<T extends Described>(first: readonly T[], more: readonly T[]): T[] {
  const there = new Set(first.map((one) => one.id));
  return [...first, ...more.filter((one) => !there.has(one.id))];
}
