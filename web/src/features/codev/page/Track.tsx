import { Check, CircleX, Hand, LoaderCircle, Square } from "lucide-react";
import { cx } from "@/components/ui";
import { type PhaseState, track } from "../model/phases";
import type { LiveSession } from "../model/session";
import { useCodevTexts } from "../texts";

const LOOKS: Record<PhaseState, string> = {
  done: "border-accent/40 bg-accent-soft text-accent",
  current: "border-info bg-info-soft text-info",
  waiting: "border-accent bg-accent text-on-accent",
  failed: "border-bad bg-bad-soft text-bad",
  stopped: "border-warn bg-warn-soft text-warn",
  todo: "border-line-strong bg-surface text-faint",
};
const SIGNS: Record<PhaseState, typeof Check | null> = {
  done: Check,
  current: LoaderCircle,
  waiting: Hand,
  failed: CircleX,
  stopped: Square,
  todo: null,
};

/** The phases in their order and where the session is; a narrow screen names the one that it is in. */
export function Track({ live }: { live: LiveSession }) {
  const t = useCodevTexts();
  const phases = track(live);
  const at = phases.findIndex(({ state }) => state !== "done");
  const now = phases[at];
  return (
    <section aria-label={t("phases")} className="rounded-lg border border-line bg-surface px-3 py-3 sm:px-4">
      <p aria-hidden className="mb-2 flex items-baseline gap-2 text-sm lg:hidden">
        <span className="font-medium">{now ? t(`phase_${now.phase}`) : t("phase_done")}</span>
        <span className="text-xs text-muted">
          {[
            now ? t("phase_of", { number: at + 1, of: phases.length }) : "",
            live.iteration > 1 ? t("iteration", { number: live.iteration }) : "",
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </p>
      <ol className="flex items-start">
        {phases.map(({ phase, state }, place) => {
          const Sign = SIGNS[state];
          return (
            <li
              key={phase}
              aria-current={place === at ? "step" : undefined}
              className="relative flex min-w-0 flex-1 flex-col items-center gap-1.5"
            >
              {place > 0 && (
                <span
                  aria-hidden
                  className={cx(
                    "absolute top-2.75 right-1/2 left-[-50%] h-0.5 -translate-y-1/2",
                    state === "todo" ? "bg-line" : "bg-accent/40",
                  )}
                />
              )}
              <span
                className={cx(
                  "relative z-10 flex size-5.5 items-center justify-center rounded-full border-2 text-2xs font-semibold [&_svg]:size-3",
                  LOOKS[state],
                )}
              >
                {Sign ? (
                  <Sign aria-hidden strokeWidth={2.5} className={state === "current" ? "animate-spin" : ""} />
                ) : (
                  <span aria-hidden>{place + 1}</span>
                )}
              </span>
              <span
                className={cx(
                  "max-w-full truncate text-center text-xs max-lg:sr-only",
                  place === at ? "font-medium text-ink" : "text-muted",
                )}
              >
                {t(`phase_${phase}`)}
              </span>
              <span className="sr-only">{t(`state_${state}`)}</span>
            </li>
          );
        })}
      </ol>
      {live.iteration > 1 && now && now.phase !== "review" && (
        <p className="mt-2 text-center text-xs text-muted max-lg:hidden">
          {t("iteration_again", { number: live.iteration })}
        </p>
      )}
    </section>
  );
}
