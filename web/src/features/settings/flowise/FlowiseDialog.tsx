import { type FormEvent, useState } from "react";
import { addFlowise, codevKeys, flowiseKeys } from "@/api/queries/codev";
import { variableKeys } from "@/api/queries/variables";
import { Button, Dialog, Field, Input, Problem } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";

const NAMED = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}$/;
const FORM = "flowise-server";

/** Adds a server. Its key is read when it is sent, and is nowhere else before or after. */
export function FlowiseDialog({ onClose }: { onClose: () => void }) {
  const t = useSettingsTexts();
  const [name, setName] = useState("");
  const [endpoint, setEndpoint] = useState("");
  const add = useChange({
    change: (form: HTMLFormElement) => {
      const key = new FormData(form).get("key");
      return addFlowise({
        id: name.trim(),
        endpoint: endpoint.trim(),
        key_variable: "",
        api_key: typeof key === "string" && key ? key : null,
      });
    },
    touches: [flowiseKeys.all, codevKeys.domains, variableKeys.all],
  });
  const wrongName = name.trim() !== "" && !NAMED.test(name.trim());
  const wrongAddress = endpoint.trim() !== "" && !/^https?:\/\/\S+$/i.test(endpoint.trim());
  const ready = name.trim() !== "" && endpoint.trim() !== "" && !wrongName && !wrongAddress;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!ready || add.isPending) return;
    add.mutate(event.currentTarget, {
      onSuccess: (_, form) => {
        form.reset();
        onClose();
      },
    });
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("add_flowise")}
      description={t("add_flowise_more")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button type="submit" form={FORM} kind="primary" disabled={!ready} busy={add.isPending}>
            {t("add")}
          </Button>
        </>
      }
    >
      <form id={FORM} autoComplete="off" noValidate className="flex flex-col gap-4" onSubmit={submit}>
        <Field
          label={t("name")}
          help={t("flowise_name_help")}
          error={wrongName ? t("flowise_name_wrong") : null}
          required
        >
          {(control) => (
            <Input {...control} value={name} placeholder="team" onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label={t("address")} error={wrongAddress ? t("flowise_address_wrong") : null} required>
          {(control) => (
            <Input
              {...control}
              inputMode="url"
              className="font-mono text-sm"
              spellCheck={false}
              placeholder="https://flowise.example.org"
              value={endpoint}
              onChange={(event) => setEndpoint(event.target.value)}
            />
          )}
        </Field>
        <Field label={t("flowise_key")} help={t("flowise_key_help")}>
          {(control) => (
            <Input {...control} name="key" type="password" autoComplete="new-password" spellCheck={false} />
          )}
        </Field>
        {add.isError && <Problem error={add.error} />}
      </form>
    </Dialog>
  );
}
