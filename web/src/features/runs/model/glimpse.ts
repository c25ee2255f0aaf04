const LONGEST = 160;

/** A step's output in one line: words without their marks, of data nothing; of a model that speaks, its last words. */
export function glimpse(step: { status: string; preview: string }): string {
  const text = step.preview.trim();
  if (/^[[{]/.test(text)) return "";
  const plain = text
    .replace(/[#*`>_|]+/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return step.status === "running" ? plain.slice(-LONGEST) : plain.slice(0, LONGEST);
}
