import { diffLines } from "diff";

export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
  /** Numbers of the line in the text before and in the one after. */
  before: number | null;
  after: number | null;
}

/** Lines that stayed the same between two changes, folded. */
export interface Fold {
  kind: "fold";
  lines: DiffLine[];
}

/** Texts with more differences than this take too long to be compared well. */
const MOST_EDITS = 1200;

/** The lines of two texts, what went before what came. Texts that differ too much are one removed and one added. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const found = diffLines(ended(before), ended(after), { maxEditLength: MOST_EDITS }) ?? [
    { value: ended(before), removed: true, added: false },
    { value: ended(after), removed: false, added: true },
  ];
  const next = { before: 1, after: 1 };
  return found.flatMap((part) => {
    const kind = part.added ? "added" : part.removed ? "removed" : "same";
    const texts = part.value.split("\n").slice(0, -1);
    return texts.map((text) => numbered(kind, text, next));
  });
}

function numbered(kind: DiffLine["kind"], text: string, next: { before: number; after: number }): DiffLine {
  const before = kind === "added" ? null : next.before;
  const after = kind === "removed" ? null : next.after;
  if (before !== null) next.before += 1;
  if (after !== null) next.after += 1;
  return { kind, text, before, after };
}

/** Every line ends, so that the last one is no difference by its missing end. */
const ended = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

const AROUND = 3;

/** Long runs of unchanged lines folded, with a few kept around each change. */
export function folded(lines: DiffLine[], around = AROUND): (DiffLine | Fold)[] {
  const near = new Set<number>();
  lines.forEach((line, at) => {
    if (line.kind === "same") return;
    for (let other = at - around; other <= at + around; other += 1) near.add(other);
  });
  const found: (DiffLine | Fold)[] = [];
  lines.forEach((line, at) => {
    const last = found.at(-1);
    if (near.has(at)) found.push(line);
    else if (last?.kind === "fold") last.lines.push(line);
    else found.push({ kind: "fold", lines: [line] });
  });
  // A fold of one line saves nothing.
  return found.flatMap((one) => (one.kind === "fold" && one.lines.length === 1 ? one.lines : [one]));
}
