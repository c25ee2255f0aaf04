import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { useId, useState } from "react";
import { type Condition, metadataQuery } from "@/api/queries/knowledge";
import { Button, Chip, IconButton, Input, Select } from "@/components/ui";
import { typedValue } from "../metadata/lines";
import { useMetadataTexts } from "../metadata/texts";

const TESTS = ["equals", "in", "at_least", "at_most", "exists", "missing"] as const;
type Test = (typeof TESTS)[number];
const MOST = 10;

interface SearchFiltersProps {
  baseId: string;
  filters: readonly Condition[];
  onChange: (filters: Condition[]) => void;
}

/** What the metadata of the searched documents must be: offered where documents have some. */
export function SearchFilters({ baseId, filters, onChange }: SearchFiltersProps) {
  const t = useMetadataTexts();
  const fields = useQuery(metadataQuery(baseId)).data ?? [];
  const keys = [...new Set(fields.map((field) => field.key))];
  const [chosen, setKey] = useState("");
  const [test, setTest] = useState<Test>("equals");
  const [value, setValue] = useState("");
  const list = useId();
  const key = chosen || (keys[0] ?? "");
  if (keys.length === 0 && filters.length === 0) return null;
  const valued = test !== "exists" && test !== "missing";
  const add = () => {
    onChange([...filters, conditionOf(key, test, value)]);
    setValue("");
  };
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{t("filters")}</legend>
      {filters.length > 0 && (
        <ul className="flex flex-wrap gap-1.5">
          {filters.map((filter, at) => (
            <li key={JSON.stringify(filter)} className="flex min-w-0 items-center gap-0.5">
              <Chip tone="accent">{shown(filter, t)}</Chip>
              <IconButton
                size="sm"
                label={t("filter_remove", { filter: shown(filter, t) })}
                onClick={() => onChange(filters.filter((_, other) => other !== at))}
              >
                <X />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      {keys.length > 0 && filters.length < MOST && (
        <div className="flex flex-wrap items-center gap-2">
          <Select
            aria-label={t("filter_key")}
            className="w-44 max-sm:w-full"
            value={key}
            onChange={setKey}
            options={keys.map((name) => ({ value: name, label: name }))}
          />
          <Select
            aria-label={t("filter_test")}
            className="w-44 max-sm:w-full"
            value={test}
            onChange={setTest}
            options={TESTS.map((name) => ({ value: name, label: t(`filter_${name}`) }))}
          />
          {valued && (
            <Input
              aria-label={t("filter_value")}
              className="w-44 max-sm:w-full"
              list={list}
              value={value}
              onChange={(event) => setValue(event.target.value)}
              onKeyDown={(event) => {
                if (event.key !== "Enter" || !value.trim()) return;
                event.preventDefault();
                add();
              }}
            />
          )}
          <datalist id={list}>
            {fields
              .filter((field) => field.key === key)
              .flatMap((field) => field.values.map(String))
              .map((known) => (
                <option key={known} value={known} />
              ))}
          </datalist>
          <Button size="sm" icon={<Plus />} disabled={valued && !value.trim()} onClick={add}>
            {t("filter_add")}
          </Button>
        </div>
      )}
    </fieldset>
  );
}

function conditionOf(key: string, test: Test, text: string): Condition {
  if (test === "exists" || test === "missing") return { key, exists: test === "exists" };
  if (test === "in") {
    const choices = text.split(",").map((part) => typedValue(part.trim()));
    return { key, in: choices };
  }
  return { key, [test]: typedValue(text.trim()) };
}

/** A condition in words. */
export function shown({ key, ...rest }: Condition, t: ReturnType<typeof useMetadataTexts>): string {
  const [test, value] = Object.entries(rest).find(([, each]) => each !== null) ?? ["exists", true];
  if (test === "exists") return `${key} ${t(value ? "filter_exists" : "filter_missing")}`;
  return `${key} ${t(`filter_${test as Test}`)} ${Array.isArray(value) ? value.join(", ") : value}`;
}
