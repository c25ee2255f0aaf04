import { Link2, X } from "lucide-react";
import { VariableTextBox } from "@/components/fields";
import { Button, Field, IconButton, Menu, Select } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { HttpCallFields } from "./HttpCallFields";
import { usePolicyTexts } from "./texts";
import { usePolicy } from "./usePolicy";

const SOURCES = ["previous_step", "flow_input", "all_previous_steps", "http_get", "http_post"] as const;
const TYPES = ["any", "text", "json", "image", "audio", "document", "file"] as const;

/** Where a step's input comes from, and what that needs. */
export function InputFields({ nodeId }: { nodeId: string }) {
  const t = usePolicyTexts();
  const { policy, set, issue } = usePolicy(nodeId);
  const source = policy.input_source;
  const isHttp = source === "http_get" || source === "http_post";
  return (
    <div className="flex flex-col gap-4">
      <Field label={t("source")} help={t(`about_${source}`)} error={issue("input_source")}>
        {(control) => (
          <Select
            {...control}
            value={source}
            options={SOURCES.map((one) => ({ value: one, label: t(`source_${one}`) }))}
            onChange={(input_source) => set({ input_source })}
          />
        )}
      </Field>
      {isHttp && (
        <HttpCallFields
          nodeId={nodeId}
          call={policy.input_config}
          body={source === "http_post"}
          error={issue("input_config") ?? issue("input_config.headers") ?? issue("input_config.url")}
          onChange={(input_config) => set({ input_config })}
        />
      )}
      <Field label={t("input_type")} error={issue("input_type")}>
        {(control) => (
          <Select
            {...control}
            value={policy.input_type}
            options={TYPES.map((one) => ({ value: one, label: t(`type_${one}`) }))}
            onChange={(input_type) => set({ input_type })}
          />
        )}
      </Field>
      <Bindings nodeId={nodeId} />
    </div>
  );
}

function Bindings({ nodeId }: { nodeId: string }) {
  const t = usePolicyTexts();
  const { node, policy, set, issue, editable } = usePolicy(nodeId);
  const fields = useDraft((state) => state.templates[node?.type ?? ""]?.fields);
  const bindings = policy.input_bindings ?? {};
  const label = (name: string) => fields?.find((one) => one.name === name)?.label || name;
  const free = (fields ?? []).filter((one) => !(one.name in bindings) && one.kind !== "tools");
  const put = (name: string, text: string) => set({ input_bindings: { ...bindings, [name]: text } });
  const drop = (name: string) => {
    const { [name]: _, ...rest } = bindings;
    set({ input_bindings: rest });
  };
  return (
    <div className="flex flex-col gap-2">
      <h4 className="font-medium text-sm">{t("bindings")}</h4>
      <p className="text-muted text-xs">{t("bindings_about")}</p>
      {Object.entries(bindings).map(([name, text]) => (
        <Field
          key={name}
          label={label(name)}
          error={issue(`input_bindings.${name}`)}
          aside={
            <IconButton size="sm" label={t("unbind", { field: label(name) })} onClick={() => drop(name)}>
              <X />
            </IconButton>
          }
        >
          {(control) => (
            <VariableTextBox
              {...control}
              nodeId={nodeId}
              label={label(name)}
              value={text}
              placeholder="{{…}}"
              onChange={(next) => put(name, next)}
            />
          )}
        </Field>
      ))}
      {editable && free.length > 0 && (
        <Menu
          align="start"
          items={free.map((one) => ({ id: one.name, label: one.label || one.name, onSelect: () => put(one.name, "") }))}
        >
          <Button size="sm" icon={<Link2 />} className="self-start">
            {t("bind")}
          </Button>
        </Menu>
      )}
    </div>
  );
}
