import type { JsonValue } from "@/api/types";
import { Field, Input, Select } from "@/components/ui";
import { contractSchema, isSchema, type Schema } from "@/lib/wiring";
import { SchemaEditor } from "./SchemaEditor";
import { useContractTexts } from "./texts";

const KINDS = ["none", "json", "text", "image", "audio", "document", "file"] as const;
type Kind = (typeof KINDS)[number];
type Contract = { [member: string]: JsonValue };

interface ContractEditorProps {
  label: string;
  contract: Contract | null | undefined;
  onChange: (contract: Contract | null) => void;
}

/** What a step promises to take or to give. */
export function ContractEditor({ label, contract, onChange }: ContractEditorProps) {
  const t = useContractTexts();
  const kind = kindOf(contract);
  return (
    <div className="flex flex-col gap-3">
      <Field label={label}>
        {(control) => (
          <Select
            {...control}
            value={kind}
            options={KINDS.map((one) => ({ value: one, label: t(`kind_${one}`) }))}
            onChange={(next) => next !== kind && onChange(startOf(next))}
          />
        )}
      </Field>
      {kind === "json" && (
        <SchemaEditor
          label={label}
          schema={contractSchema(contract) ?? {}}
          onChange={(schema: Schema) => onChange({ type: "json", schema })}
        />
      )}
      {kind === "text" && <Envelope contract={contract ?? {}} onChange={onChange} text />}
      {kind !== "none" && kind !== "json" && kind !== "text" && (
        <Envelope contract={contract ?? {}} onChange={onChange} />
      )}
    </div>
  );
}

function kindOf(contract: Contract | null | undefined): Kind {
  if (!isSchema(contract)) return "none";
  const type = KINDS.find((one) => one === contract.type && one !== "none");
  return type ?? "json";
}

function startOf(kind: Kind): Contract | null {
  if (kind === "none") return null;
  return kind === "json" ? { type: "json", schema: { type: "object" } } : { type: kind };
}

const FORMATS = ["any", "plain", "markdown", "html"] as const;

function Envelope({
  contract,
  onChange,
  text,
}: {
  contract: Contract;
  onChange: (contract: Contract) => void;
  text?: boolean;
}) {
  const t = useContractTexts();
  const put = (name: string, value: JsonValue | undefined) => {
    const { [name]: _, ...rest } = contract;
    onChange(value === undefined ? rest : { ...rest, [name]: value });
  };
  const limits = text ? (["min_length", "max_length", "max_bytes"] as const) : (["max_bytes", "max_count"] as const);
  return (
    <div className="grid grid-cols-2 gap-3">
      <div className="col-span-2">
        {text ? (
          <Field label={t("format")}>
            {(control) => (
              <Select
                {...control}
                value={FORMATS.find((one) => one === contract.format) ?? "any"}
                options={FORMATS.map((one) => ({ value: one, label: t(`format_${one}`) }))}
                onChange={(next) => put("format", next === "any" ? undefined : next)}
              />
            )}
          </Field>
        ) : (
          <Field label={t("media")} help={t("media_help")}>
            {(control) => (
              <Input
                {...control}
                value={typeof contract.format === "string" ? contract.format : ""}
                onChange={(event) => put("format", event.target.value.trim() || undefined)}
              />
            )}
          </Field>
        )}
      </div>
      {limits.map((name) => (
        <Field key={name} label={t(name)}>
          {(control) => (
            <Input
              {...control}
              inputMode="numeric"
              value={typeof contract[name] === "number" ? String(contract[name]) : ""}
              onChange={(event) => {
                const digits = event.target.value.replace(/\D/g, "").slice(0, 12);
                put(name, digits === "" ? undefined : Number(digits));
              }}
            />
          )}
        </Field>
      ))}
    </div>
  );
}
