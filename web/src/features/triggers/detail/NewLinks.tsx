import { useState } from "react";
import { addLinks, triggerKeys } from "@/api/queries/triggers";
import { Button, Callout, CopyButton, Dialog, Field, Input, Problem } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useTriggerTexts } from "../texts";

const MOST = 100;

/** Creates one-time links to a form, and shows their addresses this once. */
export function NewLinks({ triggerId, onClose }: { triggerId: string; onClose: () => void }) {
  const t = useTriggerTexts();
  const [label, setLabel] = useState("");
  const [count, setCount] = useState("1");
  const [expires, setExpires] = useState("");
  const add = useChange({
    change: () =>
      addLinks(triggerId, {
        count: Number(count),
        label: label.trim(),
        ...(expires ? { expires_at: new Date(expires).toISOString() } : {}),
      }),
    touches: [triggerKeys.links(triggerId)],
  });
  const valid = /^\d+$/.test(count) && Number(count) >= 1 && Number(count) <= MOST;
  const addresses = add.data?.items.map((link) => `${window.location.origin}${link.path}`);
  const close = (open: boolean) => !open && onClose();
  if (addresses)
    return (
      <Dialog
        open
        onOpenChange={close}
        title={t("links_once")}
        footer={
          <Button kind="primary" onClick={onClose}>
            {t("done")}
          </Button>
        }
      >
        <div className="flex flex-col gap-3">
          <Callout tone="warn">{t("links_once_about")}</Callout>
          <div className="flex items-start gap-2 rounded-md border border-line-strong bg-sunken py-1.5 pr-1.5 pl-3">
            <code className="max-h-60 min-w-0 flex-1 overflow-y-auto whitespace-pre-wrap break-all font-mono text-xs">
              {addresses.join("\n")}
            </code>
            <CopyButton text={addresses.join("\n")} label={t("copy_address")} />
          </div>
        </div>
      </Dialog>
    );
  return (
    <Dialog
      open
      onOpenChange={close}
      title={t("links_add")}
      description={t("links_about")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" disabled={!valid} busy={add.isPending} onClick={() => add.mutate()}>
            {t("links_add")}
          </Button>
        </>
      }
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t("link_label")} help={t("link_label_help")}>
          {(control) => (
            <Input {...control} maxLength={200} value={label} onChange={(event) => setLabel(event.target.value)} />
          )}
        </Field>
        <Field label={t("link_count")}>
          {(control) => (
            <Input {...control} inputMode="numeric" value={count} onChange={(event) => setCount(event.target.value)} />
          )}
        </Field>
        <Field label={t("link_expiry")} help={t("link_expiry_help")}>
          {(control) => (
            <Input
              {...control}
              type="datetime-local"
              value={expires}
              onChange={(event) => setExpires(event.target.value)}
            />
          )}
        </Field>
      </div>
      {add.isError && <Problem error={add.error} />}
    </Dialog>
  );
}
