import { number } from "@/lib/i18n/format";
import type { CodevText, SayCodev } from "../texts";

type Reader = (found: RegExpExecArray) => Record<string, string | number>;
const figure = (text: string | undefined) => number(Number((text ?? "").replaceAll(",", "")));

/** Sentences in which a server says why a session ended, as `workflow/nodes/ending.py` words them. */
const SAID: [RegExp, CodevText, Reader][] = [
  [/^Stopped by (.+)\.$/, "why_by", (found) => ({ name: found[1] ?? "" })],
  [/^The plan was not approved, and the session was ended\./, "why_plan", () => ({})],
  [/^The result was not accepted, and the session was ended\./, "why_result", () => ({})],
  [
    /^The session was ended, because its model (\S+) cannot be called: [\s\S]*?(?=Nothing was written\.$|\d+ writes? of this|$)/,
    "why_model_key",
    (found) => ({ model: found[1] ?? "" }),
  ],
  [
    /^The token budget is used up, in iteration (\d+) of (\d+): ([\d,]+) tokens of ([\d,]+)\./,
    "why_budget",
    (found) => ({ at: found[1] ?? "", of: found[2] ?? "", used: figure(found[3]), budget: figure(found[4]) }),
  ],
  [/(\d+) iterations? (?:was|were) tried, the maximum\./, "why_iterations", (found) => ({ count: Number(found[1]) })],
  [/Nothing was written\.$/, "stands_nothing", () => ({})],
  [
    /(\d+) writes? of this session (?:is|are) kept; rolling back undoes what was written\.$/,
    "stands",
    (found) => ({ count: Number(found[1]) }),
  ],
];

/** Why a session ended, in the language in use; what is not known as it was said. What was taken back stands no more. */
export function stopWords(t: SayCodev, reason: string, { takenBack = false } = {}): string {
  return SAID.reduce((text, [form, words, values]) => {
    const found = form.exec(text);
    if (!found) return text;
    return text.replace(found[0], () => (takenBack && words === "stands" ? "" : t(words, values(found)))).trim();
  }, reason);
}
