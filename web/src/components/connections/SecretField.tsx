import type { KindField } from "@/api/queries/connections";
import { useRights } from "@/api/rights";
import { Button, Field, Input, Select, Textarea } from "@/components/ui";
import type { Outside, Secret } from "./kindValues";
import { useConnectionTexts } from "./texts";

interface SecretFieldProps {
  field: KindField;
  value: Secret;
  isStored: boolean;
  onChange: (value: Secret) => void;
}

/** A secret: entered here, or for admins a reference to where it is stored. */
export function SecretField({ field, value, isStored, onChange }: SecretFieldProps) {
  const t = useConnectionTexts();
  const { may } = useRights();
  const outside = typeof value === "string" ? null : value;
  const toggle = may("variables.manage") && (
    <Button size="sm" kind="ghost" onClick={() => onChange(outside ? "" : { from: "vault", path: "", key: "" })}>
      {outside ? t("written_here") : t("from_outside")}
    </Button>
  );
  return (
    <Field
      label={field.label}
      help={field.help || undefined}
      required={field.required && !isStored}
      aside={toggle || undefined}
    >
      {(ids) => {
        if (outside) return <OutsideFields value={outside} onChange={onChange} />;
        const placeholder = isStored ? t("keep_secret") : undefined;
        const text = typeof value === "string" ? value : "";
        if (field.type === "multiline_secret")
          return (
            <Textarea
              {...ids}
              rows={4}
              className="font-mono"
              placeholder={placeholder}
              value={text}
              onChange={(event) => onChange(event.target.value)}
            />
          );
        return (
          <Input
            {...ids}
            type="password"
            autoComplete="new-password"
            placeholder={placeholder}
            value={text}
            onChange={(event) => onChange(event.target.value)}
          />
        );
      }}
    </Field>
  );
}

function OutsideFields({ value, onChange }: { value: Outside; onChange: (value: Outside) => void }) {
  const t = useConnectionTexts();
  const sources = ["vault", "aws", "google", "azure", "file", "environment"] as const;
  return (
    <div className="grid gap-2 sm:grid-cols-[8rem_1fr_8rem]">
      <Select
        aria-label={t("outside_source")}
        value={value.from}
        options={sources.map((source) => ({ value: source, label: t(`source_${source}`) }))}
        onChange={(from) => onChange({ ...value, from })}
      />
      <Input
        aria-label={t("outside_path")}
        placeholder={t("outside_path")}
        spellCheck={false}
        value={value.path}
        onChange={(event) => onChange({ ...value, path: event.target.value })}
      />
      <Input
        aria-label={t("outside_key")}
        placeholder={t("outside_key")}
        spellCheck={false}
        value={value.key ?? ""}
        onChange={(event) => onChange({ ...value, key: event.target.value })}
      />
    </div>
  );
}
