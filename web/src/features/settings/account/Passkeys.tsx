import { useQuery } from "@tanstack/react-query";
import { Fingerprint, Plus } from "lucide-react";
import { useState } from "react";
import {
  addPasskey,
  knowsPasskeys,
  passkeyKeys,
  passkeysQuery,
  removePasskey,
  renamePasskey,
} from "@/api/queries/passkeys";
import { secondFactorKeys } from "@/api/queries/secondFactor";
import { confirmationNeeded, RecoveryCodes, useConfirmed } from "@/components/secondFactor";
import { Button, Confirm, Dialog, EmptyState, Field, Input, Listing, Problem, Row, toastError } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { ago, dateTime } from "@/lib/i18n/format";
import { Part } from "../Section";
import { useSettingsTexts } from "../texts";
import { browserOf } from "./browserOf";

interface Named {
  id: string;
  name: string;
}

/** The caller's passkeys: add, rename, remove. */
export function Passkeys() {
  const t = useSettingsTexts();
  const query = useQuery(passkeysQuery);
  const [naming, setNaming] = useState<Named | "new">();
  const [removing, setRemoving] = useState<Named>();
  const [codes, setCodes] = useState<readonly string[]>();
  const { ask, dialog } = useConfirmed();
  const remove = useChange({ change: removePasskey, touches: [passkeyKeys.all, secondFactorKeys.own] });
  const removed = (one: Named) =>
    remove.mutate(one.id, {
      onSettled: () => setRemoving(undefined),
      onError: (error) => ask(error, () => removed(one)) || toastError(t("save_failed"), error),
    });
  const possible = query.data?.available && knowsPasskeys();
  const add = possible && (
    <Button size="sm" icon={<Plus />} onClick={() => setNaming("new")}>
      {t("add_passkey")}
    </Button>
  );
  if (query.data && !possible && query.data.items.length === 0) return null;
  return (
    <Part title={t("passkeys")} about={t("passkeys_about")} action={query.data?.items.length ? add : null}>
      <Listing
        label={t("passkeys")}
        query={{ ...query, data: query.data?.items }}
        empty={
          <EmptyState icon={<Fingerprint />} title={t("no_passkeys")} children={t("no_passkeys_more")} action={add} />
        }
      >
        {(one) => (
          <Row
            key={one.id}
            icon={<Fingerprint />}
            title={one.name}
            detail={[
              t("added_at", { when: dateTime(one.created_at) }),
              one.last_used_at ? t("last_used", { when: ago(one.last_used_at) }) : t("never_used"),
            ].join(" · ")}
            aside={
              <>
                <Button size="sm" onClick={() => setNaming(one)}>
                  {t("rename")}
                </Button>
                <Button size="sm" kind="danger" onClick={() => setRemoving(one)}>
                  {t("remove")}
                </Button>
              </>
            }
          />
        )}
      </Listing>
      {naming && (
        <NameDialog
          passkey={naming}
          onClose={(made) => {
            setNaming(undefined);
            if (made?.length) setCodes(made);
          }}
        />
      )}
      {codes && (
        <Dialog open size="sm" title={t("passkey_added")} onOpenChange={(open) => !open && setCodes(undefined)}>
          <RecoveryCodes codes={codes} onDone={() => setCodes(undefined)} />
        </Dialog>
      )}
      <Confirm
        open={removing !== undefined}
        onOpenChange={(open) => !open && setRemoving(undefined)}
        title={t("remove_what", { what: removing?.name ?? "" })}
        action={t("remove")}
        busy={remove.isPending}
        onConfirm={() => removing && removed(removing)}
      >
        {t("remove_passkey_more")}
      </Confirm>
      {dialog}
    </Part>
  );
}

interface NameDialogProps {
  passkey: Named | "new";
  onClose: (codes?: readonly string[]) => void;
}

function NameDialog({ passkey, onClose }: NameDialogProps) {
  const t = useSettingsTexts();
  const made = passkey === "new";
  const [name, setName] = useState(made ? browserOf(navigator.userAgent) : passkey.name);
  const { ask, dialog } = useConfirmed();
  const save = useChange({
    change: async () => {
      if (passkey === "new") return (await addPasskey(name.trim())).recovery_codes ?? [];
      await renamePasskey({ id: passkey.id, name: name.trim() });
      return [];
    },
    touches: [passkeyKeys.all, secondFactorKeys.own],
  });
  const submit = () => save.mutate(undefined, { onSuccess: onClose, onError: (error) => ask(error, submit) });
  const dismissed = save.error instanceof DOMException;
  return (
    <Dialog
      open
      size="sm"
      onOpenChange={(open) => !open && onClose()}
      title={t(made ? "add_passkey" : "rename")}
      footer={
        <>
          <Button onClick={() => onClose()}>{t("cancel")}</Button>
          <Button kind="primary" disabled={!name.trim()} busy={save.isPending} onClick={submit}>
            {t(made ? "add_passkey" : "save")}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim()) submit();
        }}
      >
        <Field label={t("name")} {...(made ? { help: t("passkey_name_help") } : {})}>
          {(control) => (
            <Input {...control} maxLength={60} value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        {dismissed && <p role="alert">{t("passkey_dismissed")}</p>}
        {save.isError && !dismissed && !confirmationNeeded(save.error) && <Problem error={save.error} />}
        <button type="submit" hidden />
      </form>
      {dialog}
    </Dialog>
  );
}
