import { type DryRun, dryRunTrigger, type PollItem, type Trigger } from "@/api/queries/triggers";
import { Button, Callout, Chip, Problem } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { dateTime } from "@/lib/i18n/format";
import { waitsWords } from "../model/words";
import { useTriggerTexts } from "../texts";

/** How the last poll ended, and what the next one would start. */
export function PollPanel({ trigger, manages }: { trigger: Trigger; manages: boolean }) {
  const t = useTriggerTexts();
  const dry = useChange({ change: () => dryRunTrigger(trigger.id), touches: [] });
  return (
    <div className="flex flex-col gap-2">
      <p className="text-muted text-sm">
        {trigger.polled_at ? t("polled", { when: dateTime(trigger.polled_at) }) : t("never_polled")}
      </p>
      {trigger.poll_error && <Callout tone="bad">{t("poll_failed", { reason: trigger.poll_error })}</Callout>}
      {trigger.waits_for && <Callout tone="info">{waitsWords(t, trigger.kind, trigger.waits_for)}</Callout>}
      {trigger.enabled && trigger.only_polled && (
        <Callout tone="info">{t("only_polled", { reason: trigger.only_polled })}</Callout>
      )}
      {manages && (
        <div className="flex flex-wrap items-center gap-2 text-sm">
          <Button size="sm" busy={dry.isPending} onClick={() => dry.mutate()}>
            {t("dry_run")}
          </Button>
          <span className="text-muted">{t("dry_run_about")}</span>
        </div>
      )}
      {dry.isError && <Problem error={dry.error} />}
      {dry.data && <Outcome kind={trigger.kind} outcome={dry.data} />}
    </div>
  );
}

function Outcome({ kind, outcome }: { kind: string; outcome: DryRun }) {
  const t = useTriggerTexts();
  return (
    <section
      aria-label={t("dry_run_outcome")}
      className="flex flex-col gap-2 rounded-md border border-line bg-sunken p-3"
    >
      <p className="text-sm" aria-live="polite">
        {outcome.waits_for
          ? waitsWords(t, kind, outcome.waits_for)
          : outcome.items.length === 0
            ? t(outcome.first ? "dry_run_first" : "dry_run_nothing")
            : t(outcome.more ? "dry_run_more" : "dry_run_items", { amount: outcome.items.length })}
      </p>
      {outcome.items.map((item) => (
        <Item key={item.key} item={item} />
      ))}
      {outcome.example && (
        <>
          <p className="font-medium text-sm">{t("dry_run_example")}</p>
          <Item item={outcome.example} />
        </>
      )}
    </section>
  );
}

function Item({ item }: { item: PollItem }) {
  const t = useTriggerTexts();
  return (
    <div className="flex flex-col gap-1 border-line border-t pt-2">
      <div className="flex flex-wrap items-center gap-2">
        <code className="min-w-0 break-all font-mono text-muted text-xs">{item.key}</code>
        {item.occurred && <Chip>{t("dry_run_occurred")}</Chip>}
        {item.refusal && <Chip tone="bad">{item.refusal}</Chip>}
        {item.files.map((name) => (
          <Chip key={name}>{name}</Chip>
        ))}
      </div>
      <pre className="max-h-40 overflow-auto whitespace-pre-wrap break-all font-mono text-xs">{item.text}</pre>
    </div>
  );
}
