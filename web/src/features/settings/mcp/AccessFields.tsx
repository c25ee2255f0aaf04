import { ListEditor } from "@/components/fields";
import { Field } from "@/components/ui";
import { useSettingsTexts } from "../texts";
import type { ProgramAccess } from "./calls";

interface AccessFieldsProps {
  value: ProgramAccess;
  onChange: (value: ProgramAccess) => void;
}

/** What a program may reach: hosts, and folders to read or to change. */
export function AccessFields({ value, onChange }: AccessFieldsProps) {
  const t = useSettingsTexts();
  return (
    <>
      {(["hosts", "read", "write"] as const).map((kind) => (
        <Field key={kind} label={t(`access_${kind}`)} help={t(`access_${kind}_help`)}>
          {() => (
            <ListEditor
              label={t(`access_${kind}`)}
              value={value[kind]}
              onChange={(entries) => onChange({ ...value, [kind]: entries })}
            />
          )}
        </Field>
      ))}
    </>
  );
}
