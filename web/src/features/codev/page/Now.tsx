import { useEffect, useRef } from "react";
import { Spinner } from "@/components/ui";
import { toolWords } from "../model/said";
import type { LiveSession } from "../model/session";
import { type CodevText, useCodevTexts } from "../texts";
import { Elapsed } from "./Elapsed";
import { useFocusWhenLost } from "./useFocusWhenLost";

const AT_WORK = new Set(["clarify", "discover", "check_credentials", "plan", "patch", "test", "converge", "review"]);

/** What the session is at this moment: in words, with the tool that runs and what the model says. */
export function Now({ live }: { live: LiveSession }) {
  const t = useCodevTexts();
  const here = useFocusWhenLost<HTMLElement>();
  const last = live.entries.at(-1);
  const running = last?.kind === "tool" && last.ok === null ? toolWords(t, last.name) : "";
  const known = AT_WORK.has(live.phase);
  const said = known ? t(`now_${live.phase}` as CodevText) : t("working");
  return (
    <section
      ref={here}
      tabIndex={-1}
      aria-label={t("now")}
      className="rounded-lg border border-line bg-surface outline-none"
    >
      <div role="status" className="flex items-center gap-2.5 px-4 py-3">
        <Spinner className="shrink-0 text-info" />
        <span className="min-w-0 flex-1">
          <span className="font-medium">{said}</span>
          {running && <span className="text-muted"> · {running}</span>}
        </span>
        <span aria-hidden className="shrink-0 text-sm text-muted tabular-nums">
          <Elapsed since={live.since} />
        </span>
      </div>
      {live.speaking.trim() && <Speaking text={live.speaking} />}
      <p className="border-t border-line px-4 py-2 text-sm text-muted">
        {known && <>{t(`next_${live.phase}` as CodevText)} </>}
        {t("may_leave")}
      </p>
    </section>
  );
}

/** What the model says as it says it: plain, quiet, and always its newest words. */
function Speaking({ text }: { text: string }) {
  const t = useCodevTexts();
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the text
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <section
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      aria-label={t("says")}
      className="max-h-56 overflow-y-auto whitespace-pre-wrap break-words border-t border-line px-4 py-3 text-sm text-muted"
    >
      {text}
    </section>
  );
}
