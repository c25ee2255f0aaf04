import { Field, Textarea } from "@/components/ui";
import { metadataOf } from "./lines";
import { useMetadataTexts } from "./texts";

interface MetadataInputProps {
  value: string;
  onChange: (value: string) => void;
}

/** Metadata of documents, one value a line. */
export function MetadataInput({ value, onChange }: MetadataInputProps) {
  const t = useMetadataTexts();
  return (
    <Field
      label={t("metadata")}
      help={t("metadata_help")}
      error={metadataOf(value) === null ? t("metadata_wrong") : null}
    >
      {(control) => (
        <Textarea
          {...control}
          rows={2}
          placeholder={"team = sales\nyear = 2026"}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
