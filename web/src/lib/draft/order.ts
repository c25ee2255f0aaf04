/**
 * The order of ids after both sides changed it: ours where we moved any, else theirs. What only the other side added
 * stands behind what it stood behind there; what we took away is not there.
 */
export function mergedOrder(base: readonly string[], ours: readonly string[], theirs: readonly string[]): string[] {
  const ourOrder = moved(base, ours) || !moved(base, theirs);
  const [first, second] = ourOrder ? [ours, theirs] : [theirs, ours];
  const result = [...first];
  const there = new Set(first);
  let before: string | undefined;
  for (const id of second) {
    if (!there.has(id)) {
      result.splice(before === undefined ? 0 : result.indexOf(before) + 1, 0, id);
      there.add(id);
    }
    before = id;
  }
  const [known, kept] = [new Set(base), new Set(ours)];
  return result.filter((id) => kept.has(id) || !known.has(id));
}

/** Whether what is in both stands in another order. */
function moved(before: readonly string[], after: readonly string[]): boolean {
  const [kept, still] = [new Set(after), new Set(before)];
  const [was, is] = [before.filter((id) => kept.has(id)), after.filter((id) => still.has(id))];
  return was.some((id, index) => id !== is[index]);
}
