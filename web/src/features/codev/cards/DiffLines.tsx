import { cx } from "@/components/ui";
import { useCodevTexts } from "../texts";

const LOOKS: Record<string, string> = {
  "+": "bg-ok-soft text-ok",
  "-": "bg-bad-soft text-bad",
  "~": "bg-warn-soft text-warn",
};
const SAID = { "+": "added", "-": "removed", "~": "altered" } as const;

/** What is different, a line each: added, removed, altered, as colour and as sign. */
export function DiffLines({ lines, label }: { lines: readonly string[]; label: string }) {
  const t = useCodevTexts();
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      className="max-h-80 overflow-auto rounded-md border border-line bg-surface py-1 font-mono text-xs"
    >
      <ul>
        {lines.map((line, at) => {
          const sign = line[0] ?? "";
          const said = SAID[sign as keyof typeof SAID];
          return (
            <li key={at} className={cx("flex px-3 py-0.5 whitespace-pre-wrap", LOOKS[sign])}>
              <span aria-hidden className="w-4 shrink-0 select-none">
                {said ? sign.replace("-", "−") : ""}
              </span>
              {said && <span className="sr-only">{t(said)} </span>}
              <span className="min-w-0 text-ink [overflow-wrap:anywhere]">{said ? line.slice(1).trim() : line}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
