import { Check, ChevronRight, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { cx, Spinner } from "@/components/ui";
import { duration } from "@/lib/i18n/format";
import { given } from "../model/given";
import type { ToolEntry } from "../model/history";
import { capital, toolWords } from "../model/said";
import { useCodevTexts } from "../texts";

/** Letters of what it was given that are said beside its name. */
const MOST_SAID = 80;

/** A tool that the model asked for: what it does, whether it worked, how long it took; opens to what went in and out. */
export function ToolLine({ entry }: { entry: ToolEntry }) {
  const t = useCodevTexts();
  const [open, setOpen] = useState(false);
  const rows = given(entry.given);
  const about = rows.find(({ plain, value }) => plain && value.length <= MOST_SAID && !value.includes("\n"));
  const line = useRef<HTMLDivElement>(null);
  // What was opened is in view, however far down its line is.
  useEffect(() => {
    if (open) line.current?.scrollIntoView({ block: "nearest" });
  }, [open]);
  const state = entry.ok === null ? t("runs") : entry.ok ? t("worked") : t("refused");
  return (
    <div ref={line}>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="-mx-1 flex w-full items-center gap-2 rounded-md px-2 py-1 text-left text-sm hover:bg-hover"
      >
        {entry.ok === null ? (
          <Spinner className="!size-3.5 shrink-0 text-info" />
        ) : entry.ok ? (
          <Check aria-hidden className="size-3.5 shrink-0 text-ok" />
        ) : (
          <X aria-hidden className="size-3.5 shrink-0 text-bad" />
        )}
        <span className="relative min-w-0 flex-1 truncate">
          {capital(toolWords(t, entry.name))}
          {about && <span className="text-muted"> · {about.value}</span>}
          <span className="sr-only">, {state}</span>
        </span>
        {entry.ms !== null && <span className="shrink-0 text-xs text-muted tabular-nums">{duration(entry.ms)}</span>}
        <ChevronRight
          aria-hidden
          className={cx("size-3.5 shrink-0 text-faint transition-transform", open && "rotate-90")}
        />
      </button>
      {open && (
        <div className="mt-1 mb-1.5 ml-5.5 rounded-md border border-line bg-canvas px-3 py-2 text-xs">
          <p className="font-mono text-muted">{entry.name}</p>
          {rows.length > 0 && (
            <dl className="mt-1 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5">
              {rows.map(({ name, value }) => (
                <Given key={name} name={name} value={value} />
              ))}
            </dl>
          )}
          {entry.preview && (
            <p className="mt-2 max-h-48 overflow-y-auto whitespace-pre-wrap break-words border-t border-line pt-2 text-muted">
              {entry.preview}
            </p>
          )}
        </div>
      )}
    </div>
  );
}

function Given({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="max-h-40 overflow-y-auto whitespace-pre-wrap break-words">{value}</dd>
    </>
  );
}
