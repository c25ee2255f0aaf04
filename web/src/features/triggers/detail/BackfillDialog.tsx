import { useState } from "react";
import { type Backfill, backfillTrigger, type Trigger, triggerKeys } from "@/api/queries/triggers";
import { Button, Dialog, Field, Input, Problem, toast } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { duration, money } from "@/lib/i18n/format";
import { useTriggerTexts } from "../texts";
import { FiringList } from "./FiringList";

/** Runs the due times of a past range that have no occurrence, after showing which they are. */
export function BackfillDialog({ trigger, onClose }: { trigger: Trigger; onClose: () => void }) {
  const t = useTriggerTexts();
  const [since, setSince] = useState("");
  const [until, setUntil] = useState("");
  const [parallel, setParallel] = useState("1");
  const range = since && until ? { since: new Date(since).toISOString(), until: new Date(until).toISOString() } : null;
  const run = useChange({
    change: (dry: boolean) =>
      backfillTrigger(trigger.id, { since: "", until: "", ...range, parallel: Number(parallel), dry_run: dry }),
    touches: [triggerKeys.all],
  });
  const preview = run.data?.id === null ? run.data : undefined;
  const choose = (set: (at: string) => void) => (event: { target: { value: string } }) => {
    run.reset();
    set(event.target.value);
  };
  const start = () =>
    run.mutate(false, {
      onSuccess: ({ count }) => {
        toast({ title: t("backfill_started", { amount: count }), tone: "ok" });
        onClose();
      },
    });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("backfill_title", { name: trigger.name })}
      description={t("backfill_about")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          {preview && preview.count > 0 ? (
            <Button kind="primary" busy={run.isPending} onClick={start}>
              {t("backfill_start", { amount: preview.count })}
            </Button>
          ) : (
            <Button
              kind="primary"
              disabled={!range || !isParallel(parallel)}
              busy={run.isPending}
              onClick={() => run.mutate(true)}
            >
              {t("backfill_show")}
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t("backfill_since")} required>
            {(control) => <Input {...control} type="datetime-local" value={since} onChange={choose(setSince)} />}
          </Field>
          <Field label={t("backfill_until")} required>
            {(control) => <Input {...control} type="datetime-local" value={until} onChange={choose(setUntil)} />}
          </Field>
          <Field label={t("backfill_parallel")} help={t("backfill_parallel_help")}>
            {(control) => (
              <Input {...control} type="number" min={1} max={100} value={parallel} onChange={choose(setParallel)} />
            )}
          </Field>
        </div>
        {run.isError && <Problem error={run.error} />}
        {preview && <Preview backfill={preview} />}
      </div>
    </Dialog>
  );
}

const isParallel = (text: string) => /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 100;

/** What the backfill will take and cost, by past runs. */
function Estimate({ estimate }: { estimate: Backfill["estimate"] }) {
  const t = useTriggerTexts();
  if (!estimate) return <p className="mb-2 text-muted text-sm">{t("backfill_unknown")}</p>;
  const { seconds, cost_usd, unpriced, runs, basis } = estimate;
  return (
    <p className="mb-2 text-muted text-sm">
      {t(`backfill_estimate_${basis}`, { time: duration(seconds * 1000), cost: money(cost_usd), amount: runs })}
      {unpriced > 0 && ` ${t("backfill_unpriced", { amount: unpriced })}`}
    </p>
  );
}

function Preview({ backfill }: { backfill: Backfill }) {
  const t = useTriggerTexts();
  return (
    <section aria-label={t("backfill_due")} className="rounded-md border border-line bg-sunken p-3">
      <p className="mb-2 font-medium text-sm" aria-live="polite">
        {t(backfill.count === 0 ? "backfill_nothing" : "backfill_count", { amount: backfill.count })}
      </p>
      {backfill.count > 0 && <Estimate estimate={backfill.estimate} />}
      {backfill.count > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard scrolls it
        <div className="max-h-60 overflow-y-auto" tabIndex={0}>
          <FiringList firings={backfill.due} />
          {backfill.count > backfill.due.length && (
            <p className="mt-1 text-muted text-sm">
              {t("backfill_more", { amount: backfill.count - backfill.due.length })}
            </p>
          )}
        </div>
      )}
    </section>
  );
}
