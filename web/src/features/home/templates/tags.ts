/** The tags that at least two templates bear, the most borne first; others would be a choice of one. */
export function tagsOf(templates: readonly { tags: readonly string[] }[], most = 14): string[] {
  const counts = new Map<string, number>();
  for (const template of templates) {
    for (const tag of new Set(template.tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > 1)
    .sort(([one, times], [other, otherTimes]) => otherTimes - times || one.localeCompare(other))
    .slice(0, most)
    .map(([tag]) => tag);
}
