import { useState } from "react";
import { addSlo, changeSlo, type NewSlo, type Slo, sloKeys } from "@/api/queries/slos";
import { FormDialog } from "@/components/FormDialog";
import { FlowPicker } from "@/components/flow-picker";
import { Field, Input, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSloTexts } from "./texts";

interface SloDialogProps {
  /** The service level that is changed; a new one without it. */
  slo?: Slo;
  /** The flow of a new one; chosen without it. */
  flowId?: string | undefined;
  onClose: () => void;
}

const WINDOWS = [7, 28, 30] as const;
const KINDS = ["success", "latency"] as const;
const RUNS = ["published", "triggers", "all"] as const;

interface Draft {
  flow: string;
  name: string;
  kind: Slo["kind"];
  target: string;
  seconds: string;
  window: string;
  runs: Slo["runs"];
}

const draftOf = (slo: Slo | undefined, flowId: string | undefined): Draft => ({
  flow: slo?.flow_id ?? flowId ?? "",
  name: slo?.name ?? "",
  kind: slo?.kind ?? "success",
  target: String(slo?.target ?? 99),
  seconds: String(slo?.seconds ?? 60),
  window: String(slo?.window_days ?? 28),
  runs: slo?.runs ?? "published",
});

const changeOf = ({ name, target, window }: Draft) => ({
  name: name.trim(),
  target: Number(target),
  window_days: Number(window) as Slo["window_days"],
});

const newSloOf = (draft: Draft): NewSlo => ({
  ...changeOf(draft),
  kind: draft.kind,
  runs: draft.runs,
  seconds: draft.kind === "latency" ? Number(draft.seconds) : null,
});

const isLong = ({ kind, seconds }: Draft) => kind !== "latency" || Number(seconds) > 0;
const isComplete = (draft: Draft) =>
  draft.flow !== "" && draft.name.trim() !== "" && isTarget(draft.target) && isLong(draft);
const isTarget = (text: string) => Number(text) >= 50 && Number(text) <= 99.999;

/** Adds or changes a service level. What it counts stays. */
export function SloDialog({ slo, flowId, onClose }: SloDialogProps) {
  const t = useSloTexts();
  const [draft, setDraft] = useState(() => draftOf(slo, flowId));
  const set = (changes: Partial<Draft>) => setDraft((known) => ({ ...known, ...changes }));
  const isLate = draft.kind === "latency";
  const save = useChange({
    change: () => (slo ? changeSlo(slo.id, changeOf(draft)) : addSlo(draft.flow, newSloOf(draft))),
    touches: [sloKeys.all],
    done: t("saved"),
  });
  return (
    <FormDialog
      title={slo ? t("edit") : t("add")}
      action={t("save")}
      ready={isComplete(draft)}
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      {!slo && !flowId && (
        <Field label={t("flow")} required>
          {(control) => (
            <FlowPicker
              {...control}
              fits={() => true}
              offer="any"
              value={draft.flow}
              onChange={(flow) => set({ flow })}
            />
          )}
        </Field>
      )}
      <Field label={t("name")} required>
        {(control) => (
          <Input
            {...control}
            maxLength={120}
            value={draft.name}
            onChange={(event) => set({ name: event.target.value })}
          />
        )}
      </Field>
      {!slo && (
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t("kind")}>
            {(control) => (
              <Select
                {...control}
                value={draft.kind}
                options={KINDS.map((value) => ({ value, label: t(`kind_${value}`) }))}
                onChange={(kind) => set({ kind })}
              />
            )}
          </Field>
          <Field label={t("runs")}>
            {(control) => (
              <Select
                {...control}
                value={draft.runs}
                options={RUNS.map((value) => ({ value, label: t(`runs_${value}`) }))}
                onChange={(runs) => set({ runs })}
              />
            )}
          </Field>
        </div>
      )}
      {!slo && isLate && (
        <Field label={t("seconds")} help={t("seconds_help")} error={isLong(draft) ? null : t("number_needed")}>
          {(control) => (
            <Input
              {...control}
              inputMode="decimal"
              value={draft.seconds}
              onChange={(event) => set({ seconds: event.target.value })}
            />
          )}
        </Field>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t("target")} help={t("target_help")} error={isTarget(draft.target) ? null : t("target_wrong")}>
          {(control) => (
            <Input
              {...control}
              inputMode="decimal"
              value={draft.target}
              onChange={(event) => set({ target: event.target.value })}
            />
          )}
        </Field>
        <Field label={t("window")}>
          {(control) => (
            <Select
              {...control}
              value={draft.window}
              options={WINDOWS.map((days) => ({ value: String(days), label: t("window_days", { count: days }) }))}
              onChange={(window) => set({ window })}
            />
          )}
        </Field>
      </div>
    </FormDialog>
  );
}
