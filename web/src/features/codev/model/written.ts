import type { CodevText, SayCodev } from "../texts";
import { capital } from "./said";

const SIGNS: Record<string, CodevText> = { "+": "added", "-": "removed", "~": "altered" };
/** A change as `graph/diff` words it: what it is of, without the words of the file that a flow is kept in. */
const SIGNED = /(^|; )([+\-~]) (?:node '([^']+)'|edge|(?=\w+_\d+[.:]))(?: (?:params\.)?)?/g;

/** What a write did, in the language in use; what is not known as it was said. */
export function writeWords(t: SayCodev, summary: string): string {
  const made = /^made '(.+)' with (\d+) nodes$/.exec(summary);
  if (made) return t("write_made", { name: made[1] ?? "", count: Number(made[2]) });
  const taken = /^Rolled back: the flow is (gone|what it was)\.$/.exec(summary);
  if (taken) return t(taken[1] === "gone" ? "write_taken_gone" : "write_taken_back");
  const said = summary
    .replace(SIGNED, (_, before: string, sign: string, node?: string) => {
      const kind = SIGNS[sign];
      return `${before}${kind ? t(kind) : sign} ${node ? `${node} ` : ""}`;
    })
    .replace(/ \(and (\d+) more\)$/, (_, count: string) => ` (${t("and_more", { count })})`);
  return capital(said);
}
