import { Field, Input } from "@/components/ui";
import { BOUNDS, type Sizes } from "./sizes";
import { usePreviewTexts } from "./texts";

interface SizeFieldsProps {
  sizes: Sizes;
  onChange: (sizes: Sizes) => void;
}

/** The size of passages, and what neighbours share. */
export function SizeFields({ sizes, onChange }: SizeFieldsProps) {
  const t = usePreviewTexts();
  return (
    <div className="grid grid-cols-2 gap-3">
      {(Object.keys(BOUNDS) as (keyof Sizes)[]).map((name) => (
        <Field key={name} label={t(name)}>
          {(control) => (
            <Input
              {...control}
              type="number"
              min={BOUNDS[name][0]}
              max={BOUNDS[name][1]}
              value={sizes[name]}
              onChange={(event) => onChange({ ...sizes, [name]: event.target.value })}
            />
          )}
        </Field>
      ))}
    </div>
  );
}
