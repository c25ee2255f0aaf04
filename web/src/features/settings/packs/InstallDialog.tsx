import { useState } from "react";
import { installPack } from "@/api/queries/packs";
import { FormDialog } from "@/components/FormDialog";
import { Callout, Toggle, toast } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";
import type { ChosenPack } from "./ChooseFile";
import { CHANGED } from "./invalidates";
import { Parts, Reach } from "./PackFacts";
import { Rehearsal } from "./Rehearsal";

/** What a file would install: its signer, parts, access and, for an upgrade, the rehearsal; then installs it. */
export function InstallDialog({ chosen, onClose }: { chosen: ChosenPack; onClose: () => void }) {
  const t = useSettingsTexts();
  const { content, preview } = chosen;
  const { name, version, installed, signer, key_id } = preview;
  const [agreed, setAgreed] = useState(false);
  const [despite, setDespite] = useState(false);
  const install = useChange({ change: installPack, touches: CHANGED });
  const breaking = preview.other_breaking > 0 || preview.flows.some((flow) => flow.problems.length > 0);
  const ready = (signer !== null || agreed) && (!breaking || despite);
  const submit = () =>
    install.mutate(
      {
        name,
        upgrade: installed !== null,
        body: {
          content,
          trust: signer === null && key_id !== null ? key_id : "",
          allow_unsigned: key_id === null,
          allow_breaking: despite,
        },
      },
      {
        onSuccess: () => {
          toast({ title: t("pack_installed", { name: preview.title, version }), tone: "ok" });
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title={
        installed
          ? t("pack_upgrade_what", { name: preview.title, before: installed, version })
          : t("pack_install_what", { name: preview.title, version })
      }
      description={preview.description}
      action={t(installed ? "pack_upgrade" : "pack_do_install")}
      ready={ready}
      busy={install.isPending}
      error={install.error}
      onSubmit={submit}
      onClose={onClose}
    >
      {signer && <Callout tone="ok">{t("pack_signed", { name: signer.name })}</Callout>}
      {!signer && key_id !== null && (
        <>
          <Callout tone="warn" title={t("pack_untrusted")}>
            <span className="break-all">{t("pack_untrusted_more", { key: preview.public_key ?? key_id })}</span>
          </Callout>
          <Toggle label={t("pack_trust")} checked={agreed} onChange={setAgreed} />
        </>
      )}
      {key_id === null && (
        <>
          <Callout tone="warn" title={t("pack_unsigned")}>
            {t("pack_unsigned_more")}
          </Callout>
          <Toggle label={t("pack_allow_unsigned")} checked={agreed} onChange={setAgreed} />
        </>
      )}
      <Parts parts={preview.parts} />
      <Reach reach={preview.reach} />
      {installed && <Rehearsal preview={preview} />}
      {breaking && <Toggle label={t("pack_allow_breaking")} checked={despite} onChange={setDespite} />}
    </FormDialog>
  );
}
