import { useState } from "react";
import { createDirectoryToken, directoryKeys } from "@/api/queries/directory";
import { Button, Callout, CopyButton, Dialog, Field, Input, Problem } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { networksOf } from "../keys/keyState";
import { useSettingsTexts } from "../texts";

interface TokenDialogProps {
  /** Whether there is a token, which stops working. */
  replaces: boolean;
  onClose: () => void;
}

/** Creates the directory's token, and shows it this once. */
export function TokenDialog({ replaces, onClose }: TokenDialogProps) {
  const t = useSettingsTexts();
  const [networks, setNetworks] = useState("");
  // The title stays when the first token is made, and there is one to replace.
  const [title] = useState(t(replaces ? "rotate_token" : "connect_directory"));
  const make = useChange({
    change: () => createDirectoryToken(networksOf(networks)),
    touches: [directoryKeys.all],
  });
  const token = make.data?.token;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={token ? t("token_created") : title}
      footer={
        token ? (
          <Button kind="primary" onClick={onClose}>
            {t("kept_it")}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{t("cancel")}</Button>
            <Button kind="primary" busy={make.isPending} onClick={() => make.mutate()}>
              {t("create_token")}
            </Button>
          </>
        )
      }
    >
      {token ? (
        <div className="flex flex-col gap-3">
          <Callout tone="warn" title={t("key_once")}>
            {t("key_once_more")}
          </Callout>
          <div className="flex items-center gap-2 rounded-md border border-line-strong bg-sunken py-1.5 pr-1.5 pl-3">
            <code data-testid="new-token" className="min-w-0 flex-1 break-all font-mono text-sm">
              {token}
            </code>
            <CopyButton text={token} label={t("copy_token")} />
          </div>
        </div>
      ) : (
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            make.mutate();
          }}
        >
          {replaces && <Callout tone="warn">{t("rotate_token_more")}</Callout>}
          <Field label={t("key_networks")} help={t("key_networks_help")}>
            {(control) => (
              <Input
                {...control}
                value={networks}
                placeholder="192.0.2.0/24"
                onChange={(event) => setNetworks(event.target.value)}
              />
            )}
          </Field>
          <button type="submit" hidden />
          {make.isError && <Problem error={make.error} />}
        </form>
      )}
    </Dialog>
  );
}
