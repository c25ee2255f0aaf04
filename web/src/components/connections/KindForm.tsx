import { useState } from "react";
import type { ConnectionKind, KindField } from "@/api/queries/connections";
import { Button, Field, Input, Segments, Select, Switch, Textarea } from "@/components/ui";
import { changed, type Entered, isSecret, mostOf } from "./kindValues";
import { SecretField } from "./SecretField";
import { useConnectionTexts } from "./texts";

interface KindFormProps {
  kind: ConnectionKind;
  entered: Entered;
  /** Secrets that have a value already. */
  stored: readonly string[];
  /** Whether it is new: then its name and owner are chosen. */
  isNew: boolean;
  mayShare: boolean;
  onChange: (entered: Entered) => void;
}

/** The fields of a kind, with name and owner of a new connection. */
export function KindForm({ kind, entered, stored, isNew, mayShare, onChange }: KindFormProps) {
  const t = useConnectionTexts();
  const [more, setMore] = useState(false);
  const first = kind.fields.filter((field) => !field.advanced);
  const advanced = kind.fields.filter((field) => field.advanced);
  const control = (field: KindField) =>
    isSecret(field) ? (
      <SecretField
        key={field.name}
        field={field}
        value={entered.secrets[field.name] ?? ""}
        isStored={stored.includes(field.name)}
        onChange={(value) => onChange({ ...entered, secrets: { ...entered.secrets, [field.name]: value } })}
      />
    ) : (
      <PlainField
        key={field.name}
        field={field}
        value={entered.fields[field.name] ?? ""}
        onChange={(value) => onChange({ ...entered, fields: changed(entered.fields, field.name, value) })}
      />
    );
  return (
    <>
      <Field label={t("name")} help={t("name_help")} required>
        {(ids) => (
          <Input
            {...ids}
            value={entered.name}
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
            onChange={(event) =>
              onChange({ ...entered, name: event.target.value.toLowerCase().replaceAll(/\s/g, "-") })
            }
          />
        )}
      </Field>
      {first.map(control)}
      {isNew && mayShare && kind.ownership === "any" && (
        <Field label={t("who")}>
          {() => (
            <div>
              <Segments
                aria-label={t("who")}
                value={entered.personal ? "personal" : "shared"}
                options={[
                  { value: "shared", label: t("who_shared") },
                  { value: "personal", label: t("who_personal") },
                ]}
                onChange={(who) => onChange({ ...entered, personal: who === "personal" })}
              />
            </div>
          )}
        </Field>
      )}
      {!more && (
        <Button kind="ghost" className="self-start" onClick={() => setMore(true)}>
          {t("more")}
        </Button>
      )}
      {more && (
        <>
          {advanced.map(control)}
          <Field
            label={t("most")}
            help={t("most_help")}
            error={mostOf(entered.most) === undefined ? t("most_wrong") : null}
          >
            {(ids) => (
              <Input
                {...ids}
                inputMode="numeric"
                className="max-w-32"
                value={entered.most}
                onChange={(event) => onChange({ ...entered, most: event.target.value })}
              />
            )}
          </Field>
          <Field label={t("expires")} help={t("expires_help")}>
            {(ids) => (
              <Input
                {...ids}
                type="date"
                value={entered.expires}
                onChange={(event) => onChange({ ...entered, expires: event.target.value })}
              />
            )}
          </Field>
        </>
      )}
    </>
  );
}

interface PlainFieldProps {
  field: KindField;
  value: string;
  onChange: (value: string) => void;
}

function PlainField({ field, value, onChange }: PlainFieldProps) {
  const t = useConnectionTexts();
  const help = field.type === "hosts" ? `${field.help} ${t("hosts_help")}` : field.help || undefined;
  return (
    <Field label={field.label} help={help} required={field.required}>
      {(ids) => {
        if (field.type === "select")
          return (
            <Select
              {...ids}
              value={value || undefined}
              options={field.options.map((option) => ({ value: option, label: option }))}
              onChange={onChange}
            />
          );
        if (field.type === "boolean")
          return <Switch aria-label={field.label} checked={value === "true"} onChange={(on) => onChange(String(on))} />;
        if (field.type === "hosts")
          return <Textarea {...ids} rows={2} value={value} onChange={(event) => onChange(event.target.value)} />;
        return (
          <Input
            {...ids}
            type={field.type === "number" ? "number" : "text"}
            inputMode={field.type === "url" ? "url" : undefined}
            placeholder={field.type === "url" ? "https://" : undefined}
            spellCheck={false}
            autoComplete="off"
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        );
      }}
    </Field>
  );
}
