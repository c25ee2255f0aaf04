import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  type ModelServer,
  type ModelServerIn,
  modelServersQuery,
  putServer,
  testServer,
} from "@/api/queries/modelSetup";
import { type Pairs, PairsEditor } from "@/components/fields";
import { MODELS_TOUCHED } from "@/components/providers";
import { Field, Input, Problem, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { Tested } from "./Tested";
import { useModelSetupTexts } from "./texts";

const OTHER = "other";
const NAME = /^[a-z][a-z0-9_-]{0,63}$/;

type ServerFormState = ReturnType<typeof useServerForm>;

/** A model server that is being connected or changed: what was typed, and the outcome of its test. */
export function useServerForm(changed?: ModelServer) {
  const presets = useQuery(modelServersQuery).data?.presets ?? [];
  const [kind, setKind] = useState(OTHER);
  const [name, setName] = useState(changed?.name ?? "");
  const [address, setAddress] = useState(changed?.address ?? "");
  const [key, setKey] = useState("");
  const [headers, setHeaders] = useState<Pairs>({});
  const preset = presets.find(({ id }) => id === kind);
  const save = useChange({
    change: async () => {
      const body: ModelServerIn = {
        kind: changed?.kind ?? preset?.kind ?? "openai",
        address: address.trim(),
        // What is left out is kept.
        ...(changed && !key ? {} : { key }),
        ...(changed && Object.keys(headers).length === 0 ? {} : { headers: headers as ModelServerIn["headers"] & {} }),
      };
      await putServer(name.trim(), body, changed?.space_id ?? null);
      return testServer(name.trim());
    },
    touches: MODELS_TOUCHED,
  });
  const isNamed = NAME.test(name.trim());
  const ready = isNamed && address.trim() !== "";
  const choose = (id: string) => {
    const chosen = presets.find((one) => one.id === id);
    setKind(id);
    setAddress(chosen?.address ?? "");
    if (chosen && (name === "" || presets.some((one) => nameOf(one.id) === name))) setName(nameOf(id));
  };
  return {
    changed,
    /** A server at another address does not get the credentials of the former. */
    moved: changed !== undefined && address.trim() !== changed.address,
    presets,
    kind,
    choose,
    name,
    setName,
    isNamed,
    address,
    setAddress,
    key,
    setKey,
    headers,
    setHeaders,
    save,
    ready,
    submit: () => ready && save.mutate(),
    works: save.data?.ok === true,
  };
}

/** The fields of a model server, and the outcome of its test. */
export function ServerForm({ form }: { form: ServerFormState }) {
  const t = useModelSetupTexts();
  const { name, save } = form;
  const wrong = name !== "" && !form.isNamed;
  const keeps = (form.changed?.secret_names.length ?? 0) > 0;
  const kept = form.moved ? "credentials_not_moved" : "credentials_kept";
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        form.submit();
      }}
    >
      {!form.changed && (
        <Field label={t("server_kind")}>
          {(control) => (
            <Select
              {...control}
              value={form.kind}
              options={[
                ...form.presets.map(({ id, label }) => ({ value: id, label })),
                { value: OTHER, label: t("server_of_openai") },
              ]}
              onChange={form.choose}
            />
          )}
        </Field>
      )}
      <Field
        label={t("name")}
        help={t("model_server_name_help")}
        error={wrong ? t("model_server_name_help") : null}
        required
      >
        {(control) => (
          <Input
            {...control}
            value={name}
            placeholder="vllm"
            disabled={form.changed !== undefined}
            onChange={(event) => form.setName(event.target.value)}
          />
        )}
      </Field>
      <Field label={t("address")} required>
        {(control) => (
          <Input
            {...control}
            className="font-mono"
            spellCheck={false}
            value={form.address}
            placeholder="http://localhost:8000/v1"
            onChange={(event) => form.setAddress(event.target.value)}
          />
        )}
      </Field>
      <Field label={t("server_key")} help={t(keeps ? kept : "server_key_help")}>
        {(control) => (
          <Input
            {...control}
            type="password"
            autoComplete="off"
            value={form.key}
            onChange={(event) => form.setKey(event.target.value)}
          />
        )}
      </Field>
      <Field label={t("headers")} help={keeps ? `${t("headers_help")} ${t(kept)}` : t("headers_help")}>
        {() => <PairsEditor label={t("headers")} value={form.headers} secrets onChange={form.setHeaders} />}
      </Field>
      <button type="submit" hidden />
      {save.isError && <Problem error={save.error} />}
      {save.data && <Tested name={name.trim()} outcome={save.data} />}
    </form>
  );
}

/** The name that is suggested for a kind of server; `ollama` is a provider's already. */
function nameOf(preset: string) {
  return preset === "ollama" ? "my-ollama" : preset.replace("_", "-");
}
