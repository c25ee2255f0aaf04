import type { DryRunOut } from "@/api/types";
import { anyOf, duration } from "@/lib/i18n/format";
import { useRunTexts } from "../texts";

type Texts = ReturnType<typeof useRunTexts>;
type DryStep = DryRunOut["path"][number];

/** What a step would wait for, and what it would send, change or store. */
export function StepAhead({ step }: { step: DryStep }) {
  const t = useRunTexts();
  const limits = (step.connection_limits ?? []).map(({ name, max }) => t("ahead_connection", { name, max }));
  const lines = [step.waits_for ? waitOf(t, step.waits_for) : "", ...limits, step.effect ?? ""].filter(
    (line) => line !== "",
  );
  return lines.map((line) => (
    <p key={line} className="w-full pl-7 text-xs text-muted">
      {line}
    </p>
  ));
}

function waitOf(t: Texts, wait: NonNullable<DryStep["waits_for"]>): string {
  const { tools = [], event = "", until = "", cron = "", seconds } = wait;
  const time = duration((seconds ?? 0) * 1000);
  switch (wait.reason) {
    case "approval": {
      const what = tools.length > 0 ? t("ahead_waits_calls", { tools: anyOf(tools) }) : t("ahead_waits_approval");
      return seconds ? t("ahead_at_most", { what, time }) : what;
    }
    case "event": {
      const what = t("ahead_waits_event", { event });
      return seconds ? t("ahead_at_most", { what, time }) : what;
    }
    case "time":
      if (cron) return t("ahead_waits_cron", { cron });
      if (until) return t("ahead_waits_until", { until });
      return seconds ? t("ahead_waits_time", { time }) : t("ahead_waits");
  }
}

/** A sentence with its values; `pattern` has their names in braces. */
export function filled(pattern: string, values: Record<string, string>): string {
  return pattern.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
