/** Sizes as they are written. */
export interface Sizes {
  passage_tokens: string;
  overlap_tokens: string;
}

export const BOUNDS: Record<keyof Sizes, readonly [number, number]> = {
  passage_tokens: [50, 2000],
  overlap_tokens: [0, 500],
};

/** The numbers of sizes; null: one is out of its bounds. */
export function numbersOf(sizes: Sizes): { passage_tokens: number; overlap_tokens: number } | null {
  const isRight = ([name, text]: [string, string]) => {
    const [least, most] = BOUNDS[name as keyof Sizes];
    return /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most;
  };
  if (!Object.entries(sizes).every((entry) => isRight(entry as [string, string]))) return null;
  return { passage_tokens: Number(sizes.passage_tokens), overlap_tokens: Number(sizes.overlap_tokens) };
}

export const sizesOf = (base: { passage_tokens: number; overlap_tokens: number }): Sizes => ({
  passage_tokens: String(base.passage_tokens),
  overlap_tokens: String(base.overlap_tokens),
});
