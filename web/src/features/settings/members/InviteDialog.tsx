import { useState } from "react";
import { invitePerson, peopleKeys } from "@/api/queries/people";
import type { components } from "@/api/schema";
import { FormDialog } from "@/components/FormDialog";
import { Button, Callout, CopyButton, Dialog, Field, Input, Switch } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { dateTime } from "@/lib/i18n/format";
import { useSettingsTexts } from "../texts";

type OneTimeLink = components["schemas"]["LinkOut"];

/** Invites somebody, and shows the link to give them. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const t = useSettingsTexts();
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [admin, setAdmin] = useState(false);
  const invite = useChange({
    change: () => invitePerson({ email: email.trim(), name: name.trim() || null, role: admin ? "admin" : "member" }),
    touches: [peopleKeys.all],
  });
  if (invite.data) return <LinkDialog link={invite.data.link} onClose={onClose} />;
  const ready = email.includes("@");
  return (
    <FormDialog
      title={t("invite")}
      description={t("invite_more")}
      action={t("invite")}
      ready={ready}
      busy={invite.isPending}
      error={invite.error}
      onSubmit={() => invite.mutate()}
      onClose={onClose}
    >
      <Field label={t("email")} required>
        {(control) => (
          <Input
            {...control}
            type="email"
            value={email}
            placeholder="anna@example.org"
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <Field label={t("name")}>
        {(control) => <Input {...control} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <Field label={t("is_admin")} help={t("is_admin_help")}>
        {(control) => <Switch {...control} checked={admin} onChange={setAdmin} />}
      </Field>
    </FormDialog>
  );
}

/** A one-time link, shown this once. */
export function LinkDialog({ link, onClose }: { link: OneTimeLink; onClose: () => void }) {
  const t = useSettingsTexts();
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("link_made")}
      footer={
        <Button kind="primary" onClick={onClose}>
          {t("kept_it")}
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        <Callout tone="warn">{t("link_once", { when: dateTime(link.expires_at) })}</Callout>
        <div className="flex items-center gap-2 rounded-md border border-line-strong bg-sunken py-1.5 pr-1.5 pl-3">
          <code data-testid="one-time-link" className="min-w-0 flex-1 break-all font-mono text-sm">
            {link.url}
          </code>
          <CopyButton text={link.url} label={t("copy_link")} />
        </div>
      </div>
    </Dialog>
  );
}
