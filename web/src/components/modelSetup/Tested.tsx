import type { ServerTest } from "@/api/queries/modelSetup";
import { Callout } from "@/components/ui";
import { duration } from "@/lib/i18n/format";
import { useModelSetupTexts } from "./texts";

const SHOWN = 5;

/** The outcome of a test: the models that the server lists, and how long one took to answer. */
export function Tested({ name, outcome }: { name: string; outcome: ServerTest }) {
  const t = useModelSetupTexts();
  const names = outcome.models.slice(0, SHOWN).join(", ");
  const listed =
    outcome.models.length > 0 &&
    t("server_listed", { count: outcome.models.length, time: duration(outcome.list_ms), names });
  if (!outcome.ok) {
    return (
      <Callout tone="bad" title={t("server_fails", { name })}>
        {listed && <p>{listed}</p>}
        <p>{outcome.detail}</p>
        {outcome.remedy && <p className="mt-1 text-muted">{outcome.remedy}</p>}
      </Callout>
    );
  }
  return (
    <Callout tone="ok" title={t("model_server_answers", { name })}>
      {listed && <p>{listed}</p>}
      {outcome.model && (
        <p>{t("server_completed", { model: outcome.model, time: duration(outcome.answer_ms ?? 0) })}</p>
      )}
    </Callout>
  );
}
