import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { distrustSigner, packKeys, signersQuery } from "@/api/queries/packs";
import { Button, Confirm, Problem, Row, Rows } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { dateTime } from "@/lib/i18n/format";
import { Part } from "../Section";
import { useSettingsTexts } from "../texts";

/** The signing keys that are trusted. */
export function Signers() {
  const t = useSettingsTexts();
  const signers = useQuery(signersQuery);
  const [removing, setRemoving] = useState<string | null>(null);
  const remove = useChange({ change: distrustSigner, touches: [packKeys.all], failed: t("save_failed") });
  const chosen = signers.data?.find((signer) => signer.key_id === removing);
  return (
    <Part title={t("pack_keys")} about={t("pack_keys_about")}>
      {signers.isError && <Problem error={signers.error} retry={() => void signers.refetch()} />}
      {signers.data?.length === 0 && (
        <p className="rounded-lg border border-line bg-surface px-4 py-3 text-muted">{t("pack_no_keys")}</p>
      )}
      {signers.data && signers.data.length > 0 && (
        <Rows label={t("pack_keys")}>
          {signers.data.map(({ key_id, public_key, name, trusted_at }) => (
            <Row
              key={key_id}
              title={name}
              detail={
                <>
                  <code className="break-all font-mono text-xs">{public_key}</code> · {dateTime(trusted_at)}
                </>
              }
              aside={
                <Button size="sm" aria-label={t("pack_key_remove", { name })} onClick={() => setRemoving(key_id)}>
                  {t("remove")}
                </Button>
              }
            />
          ))}
        </Rows>
      )}
      <Confirm
        open={removing !== null}
        onOpenChange={(open) => !open && setRemoving(null)}
        title={t("pack_key_remove_sure", { name: chosen?.name ?? "" })}
        action={t("remove")}
        busy={remove.isPending}
        onConfirm={() => removing && remove.mutate(removing, { onSettled: () => setRemoving(null) })}
      >
        {t("pack_key_remove_more")}
      </Confirm>
    </Part>
  );
}
