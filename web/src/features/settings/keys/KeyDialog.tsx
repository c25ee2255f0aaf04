import { useState } from "react";
import { apiKeyKeys, createApiKey } from "@/api/queries/apiKeys";
import { Button, Callout, CopyButton, Dialog, Field, Input, Problem, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";
import { endOf, type Lifetime, networksOf } from "./keyState";

const SCOPES = ["all", "viewer", "runner", "editor", "publisher"] as const;
const LIFETIMES: readonly Lifetime[] = ["7", "30", "90", "365", "never"];
type Scope = (typeof SCOPES)[number];

interface KeyDialogProps {
  /** The service account that it acts for; the person where there is none. */
  account?: string;
  onClose: () => void;
}

/** Makes a key, and shows it this once. */
export function KeyDialog({ account, onClose }: KeyDialogProps) {
  const t = useSettingsTexts();
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Scope>("runner");
  const [networks, setNetworks] = useState("");
  const [lifetime, setLifetime] = useState<Lifetime>("90");
  const make = useChange({
    change: () =>
      createApiKey(account, {
        name: name.trim(),
        scopes: scope === "all" ? null : [scope],
        space_ids: null,
        networks: networksOf(networks),
        expires_at: endOf(lifetime),
      }),
    touches: [apiKeyKeys.all],
  });
  const key = make.data?.key;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={key ? t("key_made") : t("make_key")}
      footer={
        key ? (
          <Button kind="primary" onClick={onClose}>
            {t("kept_it")}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{t("cancel")}</Button>
            <Button kind="primary" disabled={!name.trim()} busy={make.isPending} onClick={() => make.mutate()}>
              {t("make_key")}
            </Button>
          </>
        )
      }
    >
      {key ? (
        <div className="flex flex-col gap-3">
          <Callout tone="warn" title={t("key_once")}>
            {t("key_once_more")}
          </Callout>
          <div className="flex items-center gap-2 rounded-md border border-line-strong bg-sunken py-1.5 pr-1.5 pl-3">
            <code data-testid="new-key" className="min-w-0 flex-1 break-all font-mono text-sm">
              {key}
            </code>
            <CopyButton text={key} label={t("copy_key")} />
          </div>
        </div>
      ) : (
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim()) make.mutate();
          }}
        >
          <Field label={t("name")} help={t("key_name_help")} required>
            {(control) => (
              <Input
                {...control}
                value={name}
                placeholder={t("key_example")}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
          <Field label={t("key_may")} help={t("key_may_help")}>
            {(control) => (
              <Select
                {...control}
                value={scope}
                options={SCOPES.map((one) => ({ value: one, label: t(`scope_${one}`) }))}
                onChange={setScope}
              />
            )}
          </Field>
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
          <Field label={t("ends")}>
            {(control) => (
              <Select
                {...control}
                value={lifetime}
                options={LIFETIMES.map((one) => ({
                  value: one,
                  label: one === "never" ? t("never") : t("in_days", { count: Number(one) }),
                }))}
                onChange={setLifetime}
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
