const LONGEST = 160;
const MARKS = /^(?=.*-{3})[ \t|:-]+$|[#*`>|~]+|\b_+|_+\b/gm;

/** A step's output in one line: words without their marks, of data nothing; of a model that speaks, its last words. */
export function glimpse(step: { status: string; preview: string }): string {
  const text = step.preview.trim();
  if (/^[[{]/.test(text)) return "";
  const plain = text.replace(MARKS, " ").replace(/\s+/g, " ").trim();
  if (plain.length <= LONGEST) return plain;
  return step.status === "running" ? `…${plain.slice(1 - LONGEST)}` : `${plain.slice(0, LONGEST - 1)}…`;
}
