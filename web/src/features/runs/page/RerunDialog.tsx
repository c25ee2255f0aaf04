import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "@/api/client";
import { runKeys } from "@/api/queries/runs";
import { useRights } from "@/api/rights";
import type { RerunPlanOut, RerunPlanStart, RunOut } from "@/api/types";
import { Button, Chip, Dialog, Field, Problem, Select, Skeleton, Switch, toastError } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { duration, money, number } from "@/lib/i18n/format";
import { asksForFiles, faults, runStart, valuesOf } from "../model/form";
import { useNames } from "../model/useNames";
import { RunForm } from "../panel/RunForm";
import { useRunTexts } from "../texts";

interface RerunDialogProps {
  run: RunOut;
  from: string | null;
  onClose: () => void;
}

const BEGINNING = "";

/** Running a past run again: from which step, with what input; what that takes over and what it costs, before it starts. */
export function RerunDialog({ run, from, onClose }: RerunDialogProps) {
  const t = useRunTexts();
  const store = useDraftStore();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const form = useDraft((state) => state.document.form);
  const asksFiles = useDraft((state) => asksForFiles(state.document.form, Object.values(state.document.nodes)));
  const spaceId = useDraft((state) => state.spaceId);
  const { may } = useRights();
  const [step, setStep] = useState(from ?? BEGINNING);
  const [draft, setDraft] = useState(false);
  const [editing, setEditing] = useState(false);
  const [values, setValues] = useState(() => valuesOf(form, run.input));
  const [busy, setBusy] = useState(false);
  const wanted = wantedOf(step, draft, editing, () => runStart(form, values));
  const path = { params: { path: { run_id: run.id } } };
  const plan = useQuery({
    queryKey: ["runs", "plan", run.id, wanted],
    queryFn: async () => {
      if (draft) await store.getState().flush();
      return unwrap(api.POST("/api/v1/flow-runs/{run_id}/rerun-plan", { ...path, body: wanted }));
    },
    placeholderData: keepPreviousData,
    retry: false,
  });
  const start = useMutation({
    mutationFn: () =>
      unwrap(api.POST("/api/v1/flow-runs/{run_id}/rerun", { ...path, body: { ...wanted, wait: false } })),
    onSuccess: (found) => {
      queries.setQueryData(runKeys.one(found.id), found);
      void queries.invalidateQueries({ queryKey: runKeys.lists });
      onClose();
      void navigate({ to: "/flows/$flowId/runs/$runId", params: { flowId: run.flow_id, runId: found.id }, search: {} });
    },
    onError: (error) => toastError(t("start_failed"), error),
  });
  const wrong = editing ? faults(form, values) : {};
  const names = useNames(run.steps);
  const steps = run.steps.map((one) => ({ value: one.step_id, label: names[one.step_id] ?? one.label }));
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t("rerun_title")}
      size="md"
      footer={
        <Button
          kind="primary"
          busy={start.isPending}
          disabled={busy || !plan.data || plan.isFetching || Object.keys(wrong).length > 0}
          onClick={() => start.mutate()}
        >
          {t("rerun_start")}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t("rerun_first")}>
            {(control) => (
              <Select
                {...control}
                value={step || "*"}
                onChange={(next) => setStep(next === "*" ? BEGINNING : next)}
                options={[{ value: "*", label: t("whole") }, ...steps]}
              />
            )}
          </Field>
          <Field label={t("rerun_on")}>
            {(control) => (
              <Select
                {...control}
                value={draft ? "draft" : "same"}
                onChange={(next) => setDraft(next === "draft")}
                options={[
                  { value: "same", label: t("same_version", { no: run.version }) },
                  ...(may("runs.test", spaceId) ? [{ value: "draft" as const, label: t("the_draft") }] : []),
                ]}
              />
            )}
          </Field>
        </div>
        <span className="flex items-center gap-2 text-sm">
          <Switch checked={editing} onChange={setEditing} aria-label={t("edit_input")} />
          {t("edit_input")}
        </span>
        {editing && (
          <RunForm
            form={form}
            asksText={form.length === 0}
            asksFiles={asksFiles}
            values={values}
            faults={wrong}
            onChange={setValues}
            onBusy={setBusy}
          />
        )}
        <section aria-label={t("rerun_plan")} aria-busy={plan.isFetching}>
          <h3 className="mb-2 text-sm font-medium">{t("rerun_plan")}</h3>
          {plan.error && <Problem error={plan.error} retry={() => void plan.refetch()} />}
          {!plan.data && !plan.error && <Skeleton className="h-40" />}
          {plan.data && !plan.error && <Plan plan={plan.data} names={names} />}
        </section>
      </div>
    </Dialog>
  );
}

function wantedOf(
  step: string,
  draft: boolean,
  editing: boolean,
  start: () => ReturnType<typeof runStart>,
): RerunPlanStart {
  const wanted: RerunPlanStart = {};
  if (step) wanted.from_step = step;
  if (draft) wanted.version = "draft";
  if (editing) {
    const { text, form_data, file_ids } = start();
    Object.assign(wanted, { text, form_data, file_ids });
  }
  return wanted;
}

function Plan({ plan, names }: { plan: RerunPlanOut; names: Record<string, string> }) {
  const t = useRunTexts();
  const kept = plan.steps.filter((step) => step.reuse).length;
  const again = plan.steps.length - kept;
  const tokens = (plan.redo.tokens_input ?? 0) + (plan.redo.tokens_output ?? 0);
  const cost = plan.redo.usd === null ? t("price_unknown") : money(plan.redo.usd);
  return (
    <div className="flex flex-col gap-2">
      <p className="text-sm">
        {t("kept", { count: kept })}. {t("redone", { count: again })}.{" "}
        <span className="text-muted">
          {t("redo_cost", { cost, tokens: number(tokens), time: duration(plan.redo.ms) })}
        </span>
      </p>
      <ol className="divide-y divide-line rounded-md border border-line">
        {plan.steps.map((step) => (
          <li key={step.step_id} className="flex items-center gap-3 px-3 py-1.5 text-sm">
            <Chip tone={step.reuse ? "ok" : "warn"}>{t(step.reuse ? "keep" : "again")}</Chip>
            <span className="min-w-0 flex-1">
              <span className="font-medium">{names[step.step_id] ?? step.label}</span>
              <span className="block wrap-anywhere text-xs text-muted">{step.reason}</span>
            </span>
            <span className="text-xs text-muted tabular-nums">{step.cost.usd ? money(step.cost.usd) : ""}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
