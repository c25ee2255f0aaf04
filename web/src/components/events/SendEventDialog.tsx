import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { eventKeys, sendEvent } from "@/api/queries/events";
import { Button, Dialog, Field, Input, Problem, Textarea, Toggle, toast } from "@/components/ui";
import { asData } from "@/lib/jsonText";
import { useEventTexts } from "./texts";

interface SendEventDialogProps {
  spaceId: string;
  name?: string;
  correlation?: string;
  onClose: () => void;
}

const FORM = "send-event";

/** Sends an event to steps of a space that wait for it. */
export function SendEventDialog({ spaceId, name = "", correlation = "", onClose }: SendEventDialogProps) {
  const t = useEventTexts();
  const queries = useQueryClient();
  const [event, setEvent] = useState({ name, correlation, data: "", all: false });
  const change = (part: Partial<typeof event>) => setEvent((before) => ({ ...before, ...part }));
  const send = useMutation({
    mutationFn: () =>
      sendEvent({
        name: event.name.trim(),
        correlation: event.correlation,
        data: event.data.trim() ? asData(event.data) : null,
        deliver: event.all ? "all" : "one",
        space_id: spaceId,
      }),
    onSuccess: (sent) => {
      void queries.invalidateQueries({ queryKey: eventKeys.all });
      const title = sent.deliveries > 0 ? t("delivered", { count: sent.deliveries }) : t("kept");
      toast({ title, tone: "ok" });
      onClose();
    },
  });
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault();
    if (event.name.trim() && !send.isPending) send.mutate();
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("title")}
      size="md"
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" type="submit" form={FORM} busy={send.isPending} disabled={!event.name.trim()}>
            {t("do_send")}
          </Button>
        </>
      }
    >
      <form id={FORM} onSubmit={submit} className="flex flex-col gap-4">
        <p className="text-sm text-muted">{t("about")}</p>
        <Field label={t("name")} required>
          {(control) => (
            <Input
              {...control}
              maxLength={100}
              value={event.name}
              onChange={(typed) => change({ name: typed.target.value })}
            />
          )}
        </Field>
        <Field label={t("correlation")} help={t("correlation_help")}>
          {(control) => (
            <Input
              {...control}
              value={event.correlation}
              onChange={(typed) => change({ correlation: typed.target.value })}
            />
          )}
        </Field>
        <Field label={t("data")} help={t("data_help")}>
          {(control) => (
            <Textarea
              {...control}
              rows={4}
              value={event.data}
              onChange={(typed) => change({ data: typed.target.value })}
            />
          )}
        </Field>
        <Toggle label={t("deliver")} checked={event.all} onChange={(all) => change({ all })} />
        {send.error && <Problem error={send.error} />}
      </form>
    </Dialog>
  );
}
