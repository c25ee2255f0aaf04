import { useInfiniteQuery } from "@tanstack/react-query";
import { flowListQuery } from "@/api/queries/flowList";
import { Field, Input, Select } from "@/components/ui";
import { useTriggerTexts } from "../texts";
import { ANSWERS, newSent, type SentDraft, type TriggerDraft, VERIFICATIONS } from "./draft";
import { ResponseFields } from "./ResponseFields";

interface Props {
  draft: TriggerDraft;
  set: (changes: Partial<TriggerDraft>) => void;
}

/** How calls of an address are verified and answered. */
export function WebhookFields({ draft, set, stored }: Props & { stored: boolean }) {
  const t = useTriggerTexts();
  const { sent } = draft;
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label={t("verification")}>
        {(control) => (
          <Select
            {...control}
            value={draft.verification}
            options={VERIFICATIONS.map((value) => ({ value, label: t(`verify_${value}`) }))}
            onChange={(verification) => set({ verification })}
          />
        )}
      </Field>
      <Field label={t("call_does")}>
        {(control) => (
          <Select
            {...control}
            value={sent ? "event" : draft.answer}
            options={([...ANSWERS, "event"] as const).map((value) => ({
              value,
              label: t(`answer_${value}`),
            }))}
            onChange={(value) => set(value === "event" ? { sent: sent ?? newSent() } : { sent: null, answer: value })}
          />
        )}
      </Field>
      {!sent && draft.answer === "result" && (
        <ResponseFields draft={draft.response} onChange={(response) => set({ response })} />
      )}
      {sent && <SentFields sent={sent} set={(changes) => set({ sent: { ...sent, ...changes } })} />}
      {draft.verification !== "none" && (
        <div className="sm:col-span-2">
          <Field
            label={t("secret")}
            help={t(stored ? "secret_stored" : draft.verification === "basic" ? "secret_basic" : "secret_help")}
          >
            {(control) => (
              <Input
                {...control}
                type="password"
                autoComplete="off"
                value={draft.secret}
                onChange={(event) => set({ secret: event.target.value })}
              />
            )}
          </Field>
        </div>
      )}
    </div>
  );
}

/** The event that a call sends. */
function SentFields({ sent, set }: { sent: SentDraft; set: (changes: Partial<SentDraft>) => void }) {
  const t = useTriggerTexts();
  return (["name", "correlation", "data"] as const).map((name) => (
    <Field key={name} label={t(`sent_${name}`)} help={t(`sent_${name}_help`)}>
      {(control) => <Input {...control} value={sent[name]} onChange={(event) => set({ [name]: event.target.value })} />}
    </Field>
  ));
}

/** The flow after which this one starts. */
export function FlowFields({ flowId, draft, set }: Props & { flowId: string }) {
  const t = useTriggerTexts();
  const { data } = useInfiniteQuery(flowListQuery({ search: "", space: undefined, sort: "name" }));
  const flows = data?.pages.flatMap((page) => page.items).filter((flow) => flow.id !== flowId) ?? [];
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label={t("after_flow")} required>
        {(control) => (
          <Select
            {...control}
            value={draft.flow || undefined}
            options={flows.map((flow) => ({ value: flow.id, label: flow.name }))}
            onChange={(flow) => set({ flow })}
          />
        )}
      </Field>
      <Field label={t("outcome")}>
        {(control) => (
          <Select
            {...control}
            value={draft.outcome}
            options={(["completed", "failed", "any"] as const).map((value) => ({
              value,
              label: t(`outcome_${value}`),
            }))}
            onChange={(outcome) => set({ outcome })}
          />
        )}
      </Field>
    </div>
  );
}

/** The event for which a flow starts. */
export function EventFields({ draft, set }: Props) {
  const t = useTriggerTexts();
  return (
    <Field label={t("event_name")} help={t("event_help")} required>
      {(control) => <Input {...control} value={draft.event} onChange={(event) => set({ event: event.target.value })} />}
    </Field>
  );
}
