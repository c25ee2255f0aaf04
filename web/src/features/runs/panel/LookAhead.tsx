import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, unwrap } from "@/api/client";
import type { DryRunOut, RunStart } from "@/api/types";
import { IssueLine } from "@/components/readiness";
import { Callout, Chip, Dialog, Problem, Skeleton } from "@/components/ui";
import { money, number } from "@/lib/i18n/format";
import { servedWords } from "@/lib/i18n/served";
import { amount } from "../model/amount";
import { useRunTexts } from "../texts";
import { PathAhead } from "./PathAhead";
import { filled } from "./StepAhead";

interface LookAheadProps {
  flowId: string;
  start: RunStart;
  onClose: () => void;
  onNode: (nodeId: string) => void;
}

/** What a run would do, before it does: steps, models, servers, secrets, price. Nothing is stored, asked or sent. */
export function LookAhead({ flowId, start, onClose, onNode }: LookAheadProps) {
  const t = useRunTexts();
  const body = {
    text: start.text ?? "",
    form_data: start.form_data ?? {},
    file_ids: start.file_ids ?? [],
    version: start.version ?? "draft",
  };
  const { data, error, refetch } = useQuery({
    queryKey: ["runs", "ahead", flowId, body],
    queryFn: () => previewRun(flowId, body),
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <Dialog open onOpenChange={onClose} title={t("ahead")} side>
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-64" />}
      {data && (
        <div className="flex flex-col gap-5">
          <Callout tone={data.ok ? "ok" : "bad"} title={t(data.ok ? "ahead_ok" : "ahead_not")}>
            {t("ahead_steps", { certain: data.totals.certain_steps, count: data.totals.steps })}
            {data.totals.model_steps > 0 && (
              <p>
                {data.totals.cost_usd_at_least === null
                  ? t("ahead_no_price")
                  : t("ahead_cost", {
                      cost: money(data.totals.cost_usd_at_least),
                      tokens: number(data.totals.tokens_input_at_least),
                    })}
              </p>
            )}
          </Callout>
          {data.findings.map((one) => (
            <Callout key={`${one.code} ${one.node} ${one.message}`} tone={one.severity === "error" ? "bad" : "warn"}>
              <IssueLine
                issue={{ ...one, remedy: one.remedy ?? "", nodeId: one.node ?? "", about: one.about ?? "" }}
                onNode={onNode}
              />
            </Callout>
          ))}
          <Part title={t("steps")}>
            <PathAhead path={data.path} />
          </Part>
          <Limits ahead={data} />
          <Part title={t("ahead_hosts")}>
            {data.reach.hosts.length === 0 && <p className="text-muted">{t("ahead_no_hosts")}</p>}
            <ul className="flex flex-wrap gap-1.5">
              {[...new Set(data.reach.hosts.map((one) => one.host || t("ahead_data_host")))].map((host) => (
                <li key={host}>
                  <Chip>{host}</Chip>
                </li>
              ))}
            </ul>
          </Part>
          <Part title={t("ahead_secrets")}>
            {data.reach.secrets.length === 0 && <p className="text-muted">{t("ahead_no_secrets")}</p>}
            <ul className="flex flex-wrap gap-1.5">
              {data.reach.secrets.map((one) => (
                <li key={`${one.step_id} ${one.name}`}>
                  <Chip tone={one.known ? "neutral" : "bad"}>
                    {one.name} {!one.known && t("ahead_no_value")}
                  </Chip>
                </li>
              ))}
            </ul>
          </Part>
        </div>
      )}
    </Dialog>
  );
}

/** A dry run, with what its steps would do in the language in use. */
async function previewRun(flowId: string, body: RunStart): Promise<DryRunOut> {
  const [ahead, translate] = await Promise.all([
    unwrap(api.POST("/api/v1/flows/{flow_id}/dry-run", { params: { path: { flow_id: flowId } }, body })),
    servedWords(),
  ]);
  return inWords(ahead, translate);
}

function inWords(ahead: DryRunOut, translate: (text: string) => string): DryRunOut {
  const path = ahead.path.map((step) => ({
    ...step,
    effect: step.effect_pattern ? filled(translate(step.effect_pattern), step.effect_values ?? {}) : step.effect,
    calls: step.calls?.map((call) => (call.preview ? { ...call, preview: inWords(call.preview, translate) } : call)),
  }));
  return { ...ahead, path };
}

function Limits({ ahead }: { ahead: DryRunOut }) {
  const t = useRunTexts();
  const { budgets = [], max_concurrent_runs: most } = ahead;
  if (budgets.length === 0 && most == null) return null;
  return (
    <Part title={t("limits")}>
      {most != null && <p className="mb-1.5 text-sm">{t("ahead_slots", { most, ahead: ahead.runs_ahead ?? 0 })}</p>}
      <ul className="flex flex-wrap gap-1.5">
        {budgets.map((one) => (
          <li key={`${one.scope} ${one.kind}`}>
            <Chip tone={one.used >= one.limit ? "bad" : "neutral"}>
              {t(one.scope === "run" ? "ahead_budget_run" : "ahead_budget_day", {
                used: amount(t, one.kind, one.used),
                limit: amount(t, one.kind, one.limit),
              })}
            </Chip>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-1.5 text-sm font-medium">{title}</h3>
      {children}
    </section>
  );
}
