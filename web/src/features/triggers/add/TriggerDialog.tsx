import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { formQuery } from "@/api/queries/flows";
import { addTrigger, changeTrigger, type NewTrigger, type Trigger, triggerKeys } from "@/api/queries/triggers";
import type { FormField } from "@/api/types";
import { Button, Callout, Dialog, Field, Input, Problem, Select, Textarea } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useTriggerTexts } from "../texts";
import { CATCH_UPS, KINDS, newDraft, OVERLAPS, type TriggerDraft, triggerOf, usualOverlap } from "./draft";
import { FormFields } from "./FormFields";
import { MappedFields } from "./MappedFields";
import { guessed } from "./mapped";
import { PollFields } from "./PollFields";
import { isPoll } from "./polls";
import { ScheduleFields } from "./ScheduleFields";
import { Shown } from "./Shown";
import { EventFields, FlowFields, WebhookFields } from "./SourceFields";
import { changesOf, draftOf } from "./stored";

interface Props {
  flowId: string;
  spaceId: string;
  /** The trigger to change; a new one without it. */
  trigger?: Trigger;
  onClose: () => void;
}

/** Adds a trigger to a flow, or changes one; shows the secret of a new webhook this once. */
export function TriggerDialog({ flowId, spaceId, trigger, onClose }: Props) {
  const t = useTriggerTexts();
  const [written, setDraft] = useState(() => (trigger ? draftOf(trigger) : newDraft()));
  const { data: fields = [] } = useQuery(formQuery(flowId));
  const draft = trigger ? written : { ...written, mapped: guessed(written.kind, fields, written.mapped) };
  const set = (changes: Partial<TriggerDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const wanted = triggerOf(draft);
  const add = useChange({
    change: (body: NewTrigger) => addTrigger(flowId, body),
    touches: [triggerKeys.all],
    done: t("added"),
  });
  const change = useChange({
    change: (of: Trigger) => changeTrigger(of.id, changesOf(of, draft)),
    touches: [triggerKeys.all],
    done: t("changed"),
  });
  /** Whether the answer is shown: a secret that is seen only once, or the address of a form. */
  const isShown = (made: { kind: string; secret?: string | null }) =>
    made.kind === "form" || Boolean(made.secret && !draft.secret);
  const submit = () => {
    if (!wanted) return;
    if (trigger) change.mutate(trigger, { onSuccess: onClose });
    else add.mutate(wanted, { onSuccess: (made) => isShown(made) || onClose() });
  };
  const error = add.error ?? change.error;
  const secret = add.data?.secret;
  if (add.data && isShown(add.data)) {
    return (
      <Dialog
        open
        onOpenChange={(open) => !open && onClose()}
        title={t(secret ? "secret_once" : "form_address")}
        footer={
          <Button kind="primary" onClick={onClose}>
            {t("done")}
          </Button>
        }
      >
        <div className="flex flex-col gap-3">
          {secret ? <Callout tone="warn">{t("secret_once_about")}</Callout> : <p>{t("form_address_about")}</p>}
          <Shown label={t("copy_address")} text={`${window.location.origin}${add.data.path ?? ""}`} />
          {secret && <Shown label={t("copy_secret")} text={secret} />}
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={trigger ? t("edit_title", { name: trigger.name }) : t("add")}
      description={t(trigger ? "edit_about" : "add_about")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" disabled={!wanted} busy={add.isPending || change.isPending} onClick={submit}>
            {t(trigger ? "save" : "add")}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t("name")} required>
            {(control) => (
              <Input
                {...control}
                value={draft.name}
                maxLength={120}
                placeholder={t("name_example")}
                onChange={(event) => set({ name: event.target.value })}
              />
            )}
          </Field>
          <Field label={t("kind")}>
            {(control) => (
              <Select
                {...control}
                disabled={trigger !== undefined}
                value={draft.kind}
                options={KINDS.map((value) => ({ value, label: t(`kind_${value}`) }))}
                onChange={(kind) => set({ kind, overlap: usualOverlap(kind) })}
              />
            )}
          </Field>
        </div>
        <KindFields
          flowId={flowId}
          spaceId={spaceId}
          draft={draft}
          set={set}
          stored={trigger !== undefined}
          fields={fields}
        />
        <Field label={t("text")} help={t(textHelp(draft.kind))}>
          {(control) => (
            <Textarea {...control} value={draft.text} onChange={(event) => set({ text: event.target.value })} />
          )}
        </Field>
        <Policies draft={draft} set={set} />
        <button type="submit" hidden />
        {error && <Problem error={error} />}
      </form>
    </Dialog>
  );
}

interface KindProps {
  flowId: string;
  spaceId: string;
  draft: TriggerDraft;
  set: (changes: Partial<TriggerDraft>) => void;
  /** Whether it is a trigger that is changed. */
  stored: boolean;
  /** The form of the flow. */
  fields: readonly FormField[];
}

/** What a kind of trigger asks for. */
function KindFields({ flowId, spaceId, draft, set, stored, fields }: KindProps) {
  return (
    <>
      {draft.kind === "schedule" && (
        <ScheduleFields draft={draft.schedule} onChange={(schedule) => set({ schedule })} />
      )}
      {draft.kind === "webhook" && <WebhookFields draft={draft} set={set} stored={stored} />}
      {draft.kind === "form" && <FormFields draft={draft.form} onChange={(form) => set({ form })} />}
      {draft.kind === "flow" && <FlowFields flowId={flowId} draft={draft} set={set} />}
      {draft.kind === "event" && <EventFields draft={draft} set={set} />}
      {isPoll(draft.kind) && (
        <PollFields
          key={draft.kind}
          kind={draft.kind}
          spaceId={spaceId}
          draft={draft.poll}
          onChange={(poll) => set({ poll })}
        />
      )}
      {(isPoll(draft.kind) || (draft.kind === "webhook" && !draft.sent)) && (
        <MappedFields kind={draft.kind} fields={fields} draft={draft.mapped} onChange={(mapped) => set({ mapped })} />
      )}
    </>
  );
}

/** Nothing comes with an occurrence of a schedule or a start by hand: the saved text is all that its run gets. */
const textHelp = (kind: TriggerDraft["kind"]) =>
  kind === "schedule" || kind === "manual" ? "text_help_saved" : "text_help";

function Policies({ draft, set }: { draft: TriggerDraft; set: (changes: Partial<TriggerDraft>) => void }) {
  const t = useTriggerTexts();
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label={t("overlap")} help={t("overlap_help")}>
        {(control) => (
          <Select
            {...control}
            value={draft.overlap}
            options={OVERLAPS.map((value) => ({
              value,
              label: t(`overlap_${value === "queue_one" ? "queue_next" : value}`),
            }))}
            onChange={(overlap) => set({ overlap })}
          />
        )}
      </Field>
      {draft.kind === "schedule" && (
        <Field label={t("catch_up")}>
          {(control) => (
            <Select
              {...control}
              value={draft.catchUp}
              options={CATCH_UPS.map((value) => ({ value, label: t(`catch_up_${value}`) }))}
              onChange={(catchUp) => set({ catchUp })}
            />
          )}
        </Field>
      )}
    </div>
  );
}
