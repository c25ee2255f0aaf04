import { Callout } from "@/components/ui";
import { duration } from "@/lib/i18n/format";
import { useProviderTexts } from "./texts";
import type { Connection } from "./values";

/** What came of a test, in words. */
export function Connected({ name, found }: { name: string; found: Connection }) {
  const t = useProviderTexts();
  const time = duration(found.latency_ms);
  if (!found.ok) {
    return (
      <Callout tone="bad" title={t("fails", { name })}>
        {found.detail}
        {found.remedy && <p className="mt-1 text-muted">{found.remedy}</p>}
      </Callout>
    );
  }
  const said =
    found.models !== null
      ? t("works_models", { count: found.models, time })
      : found.model
        ? t("works_model", { model: found.model, time })
        : t("works_time", { time });
  return (
    <Callout tone="ok" title={t("works", { name })}>
      {said}
    </Callout>
  );
}
