import { memo, useEffect, useRef, useState } from "react";
import { Button, Skeleton } from "@/components/ui";
import type { Entry } from "../model/history";
import { useCodevTexts } from "../texts";
import { LogEntry } from "./LogEntry";

const NEAR_PX = 80;
/** Of a session of hours, what came before is drawn when it is asked for. */
const MOST_SHOWN = 300;

interface LogProps {
  entries: Entry[];
  working: boolean;
  /** Whether something has happened that is not here yet. */
  coming: boolean;
}

/** What happened, oldest first; the newest is in view for who has not scrolled away from it. */
export const Log = memo(function Log({ entries, working, coming }: LogProps) {
  const t = useCodevTexts();
  const [whole, setWhole] = useState(false);
  const before = whole ? 0 : Math.max(0, entries.length - MOST_SHOWN);
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows what is added
  useEffect(() => {
    if (follows.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [entries]);
  const scrolled = () => {
    const at = box.current;
    if (at) follows.current = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_PX;
  };
  return (
    <section
      aria-label={t("log")}
      className="flex min-w-0 flex-col overflow-hidden rounded-lg border border-line bg-surface lg:sticky lg:top-4"
    >
      <h2 className="border-b border-line px-4 py-2.5 text-sm font-medium">{t("log")}</h2>
      <div
        ref={box}
        onScroll={scrolled}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        tabIndex={0}
        role="log"
        aria-label={t("log")}
        className="max-h-[60vh] overflow-y-auto px-4 py-3 lg:max-h-[calc(100dvh-20rem)]"
      >
        {entries.length === 0 && coming ? (
          <Skeleton className="h-24" />
        ) : entries.length === 0 ? (
          <p className="text-sm text-muted">{t(working ? "log_starting" : "log_empty")}</p>
        ) : (
          <ol className="flex flex-col gap-1.5">
            {before > 0 && (
              <li className="text-center">
                <Button size="sm" kind="ghost" onClick={() => setWhole(true)}>
                  {t("log_before", { count: before })}
                </Button>
              </li>
            )}
            {entries.slice(before).map((entry) => (
              <LogEntry key={`${entry.kind} ${entry.id}`} entry={entry} />
            ))}
          </ol>
        )}
      </div>
    </section>
  );
});
