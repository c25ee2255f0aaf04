import { useState } from "react";
import { keyringKeys, revokeRingKey } from "@/api/queries/keyring";
import { Button, Callout, Dialog, Field, Problem, Textarea } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";

interface RevokeDialogProps {
  ringKey: string;
  onClose: () => void;
}

/** Revokes a signing key, from now on and for a stated reason. */
export function RevokeDialog({ ringKey, onClose }: RevokeDialogProps) {
  const t = useSettingsTexts();
  const [reason, setReason] = useState("");
  const revoke = useChange({ change: revokeRingKey, touches: [keyringKeys.all] });
  const confirm = () => reason.trim() && revoke.mutate({ key: ringKey, reason: reason.trim() }, { onSuccess: onClose });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      size="sm"
      title={t("revoke_what", { what: ringKey })}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="danger" disabled={!reason.trim()} busy={revoke.isPending} onClick={confirm}>
            {t("revoke")}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Callout tone="warn">{t("revoke_signing_more")}</Callout>
        <Field label={t("revoke_reason")} help={t("revoke_reason_help")} required>
          {(control) => (
            <Textarea {...control} value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
          )}
        </Field>
        {revoke.isError && <Problem error={revoke.error} />}
      </div>
    </Dialog>
  );
}
