import { useMemo, useState } from "react";
import { cx } from "@/components/ui";
import { type DiffLine, folded, lineDiff } from "./lines";
import { useDiffTexts } from "./texts";

interface DiffViewProps {
  before: string;
  after: string;
  /** What the texts are. */
  label: string;
  className?: string;
}

/** Two texts by line: what went, what came, and a few lines around it. */
export function DiffView({ before, after, label, className }: DiffViewProps) {
  const t = useDiffTexts();
  const lines = useMemo(() => folded(lineDiff(before, after)), [before, after]);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  if (before === after) return <p className="text-sm text-muted">{t("same")}</p>;
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      className={cx("max-h-96 overflow-auto rounded-md border border-line bg-surface font-mono text-xs", className)}
    >
      <div className="py-1">
        {lines.map((line, at) => {
          const key = `${at}`;
          if (line.kind !== "fold") return <Line key={key} line={line} />;
          if (opened.has(at)) return line.lines.map((one) => <Line key={`${at}.${one.after}`} line={one} />);
          return (
            <button
              key={key}
              type="button"
              className="block w-full bg-sunken px-3 py-0.5 text-left text-muted hover:text-ink"
              onClick={() => setOpened(new Set([...opened, at]))}
            >
              {t("unchanged", { count: line.lines.length })}
            </button>
          );
        })}
      </div>
    </section>
  );
}

const LOOKS = { same: "", added: "bg-ok-soft text-ok", removed: "bg-bad-soft text-bad" };
const SIGNS = { same: " ", added: "+", removed: "−" };

function Line({ line }: { line: DiffLine }) {
  const t = useDiffTexts();
  return (
    <div className={cx("flex whitespace-pre-wrap", LOOKS[line.kind])}>
      <span aria-hidden className="w-8 shrink-0 select-none pr-2 text-right text-faint">
        {line.before}
      </span>
      <span aria-hidden className="w-8 shrink-0 select-none pr-2 text-right text-faint">
        {line.after}
      </span>
      <span aria-hidden className="w-5 shrink-0 select-none">
        {SIGNS[line.kind]}
      </span>
      {line.kind !== "same" && <span className="sr-only">{t(line.kind)} </span>}
      <span className="min-w-0 pr-3 [overflow-wrap:anywhere]">{line.text || " "}</span>
    </div>
  );
}
