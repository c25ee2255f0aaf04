import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type ModelServerIn, modelServersQuery, putServer, testServer } from "@/api/queries/modelSetup";
import { type Pairs, PairsEditor } from "@/components/fields";
import { Button, Dialog, Field, Input, Problem, Select } from "@/components/ui";
import { useSettingsTexts } from "../texts";
import { useChange } from "../useChange";
import { Tested } from "./Tested";
import { MODELS_TOUCHED } from "./touched";

const OTHER = "other";
const NAME = /^[a-z][a-z0-9_-]{0,63}$/;

/** Connects a model server, and tests it at once. */
export function ServerDialog({ onClose }: { onClose: () => void }) {
  const t = useSettingsTexts();
  const presets = useQuery(modelServersQuery).data?.presets ?? [];
  const [kind, setKind] = useState(OTHER);
  const [name, setName] = useState("");
  const [address, setAddress] = useState("");
  const [key, setKey] = useState("");
  const [headers, setHeaders] = useState<Pairs>({});
  const preset = presets.find(({ id }) => id === kind);
  const choose = (id: string) => {
    const chosen = presets.find((one) => one.id === id);
    setKind(id);
    setAddress(chosen?.address ?? "");
    if (chosen && (name === "" || presets.some((one) => nameOf(one.id) === name))) setName(nameOf(id));
  };
  const save = useChange({
    change: async () => {
      const body = { kind: preset?.kind ?? "openai", address: address.trim(), key, headers } as ModelServerIn;
      await putServer(name.trim(), body);
      return testServer(name.trim());
    },
    touches: MODELS_TOUCHED,
  });
  const valid = NAME.test(name.trim());
  const ready = valid && address.trim() !== "";
  const submit = () => ready && save.mutate();
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("add_model_server")}
      description={t("add_model_server_more")}
      footer={
        <>
          <Button onClick={onClose}>{t(save.data?.ok ? "close_done" : "cancel")}</Button>
          <Button
            kind={save.data?.ok ? "secondary" : "primary"}
            disabled={!ready}
            busy={save.isPending}
            onClick={submit}
          >
            {t("save_and_test")}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Field label={t("server_kind")}>
          {(control) => (
            <Select
              {...control}
              value={kind}
              options={[
                ...presets.map(({ id, label }) => ({ value: id, label })),
                { value: OTHER, label: t("server_of_openai") },
              ]}
              onChange={choose}
            />
          )}
        </Field>
        <Field
          label={t("name")}
          help={t("model_server_name_help")}
          error={name !== "" && !valid ? t("model_server_name_help") : null}
          required
        >
          {(control) => (
            <Input {...control} value={name} placeholder="vllm" onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label={t("address")} required>
          {(control) => (
            <Input
              {...control}
              className="font-mono"
              spellCheck={false}
              value={address}
              placeholder="http://localhost:8000/v1"
              onChange={(event) => setAddress(event.target.value)}
            />
          )}
        </Field>
        <Field label={t("server_key")} help={t("server_key_help")}>
          {(control) => (
            <Input
              {...control}
              type="password"
              autoComplete="off"
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
          )}
        </Field>
        <Field label={t("headers")} help={t("headers_help")}>
          {() => <PairsEditor label={t("headers")} value={headers} secrets onChange={setHeaders} />}
        </Field>
        <button type="submit" hidden />
        {save.isError && <Problem error={save.error} />}
        {save.data && <Tested name={name.trim()} outcome={save.data} />}
      </form>
    </Dialog>
  );
}

/** The name that is suggested for a kind of server; `ollama` is a provider's already. */
function nameOf(preset: string) {
  return preset === "ollama" ? "my-ollama" : preset.replace("_", "-");
}
