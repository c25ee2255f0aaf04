import { Plus, X } from "lucide-react";
import { Button, IconButton, Select, Textarea } from "@/components/ui";
import { type Expected, isSchema, KINDS, type Kind, lacksPartner, ONCE } from "./expectations";
import { useCaseTexts } from "./texts";

interface ExpectationsProps {
  rows: Expected[];
  kinds?: readonly Kind[];
  onChange: (rows: Expected[]) => void;
}

/** What has to hold for the answer, one row each. */
export function Expectations({ rows, kinds = KINDS, onChange }: ExpectationsProps) {
  const t = useCaseTexts();
  const change = (key: number, more: Partial<Expected>) =>
    onChange(rows.map((row) => (row.key === key ? { ...row, ...more } : row)));
  const taken = (kind: Kind, but: Expected) =>
    ONCE.includes(kind) && rows.some((row) => row.kind === kind && row.key !== but.key);
  const add = () =>
    onChange([...rows, { key: Math.max(0, ...rows.map((row) => row.key)) + 1, kind: "contains", text: "" }]);
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="text-sm font-medium">{t("expected")}</legend>
      <p className="text-xs text-muted">{t("expected_help")}</p>
      {rows.map((row) => (
        <div key={row.key} className="flex flex-wrap items-start gap-2 sm:flex-nowrap">
          <Select
            aria-label={t("kind")}
            className="w-[calc(100%-2.5rem)] sm:w-48"
            value={row.kind}
            options={kinds.map((kind) => ({ value: kind, label: t(`kind_${kind}`), disabled: taken(kind, row) }))}
            onChange={(kind) => change(row.key, { kind })}
          />
          <div className="order-last min-w-0 flex-1 basis-full sm:order-none sm:basis-auto">
            {row.kind !== "supported" && (
              <Textarea
                aria-label={t(`kind_${row.kind}`)}
                aria-invalid={wrong(row) || undefined}
                rows={1}
                className="min-h-8! w-full"
                maxLength={row.kind === "matches" ? 1000 : 20_000}
                value={row.text}
                onChange={(event) => change(row.key, { text: event.target.value })}
              />
            )}
            {wrong(row) && (
              <p role="alert" className="text-xs text-bad">
                {t("schema_wrong")}
              </p>
            )}
            {lacksPartner(row, rows) && (
              <p role="alert" className="text-xs text-bad">
                {t(row.kind === "criterion" ? "judge_needed" : "criterion_needed")}
              </p>
            )}
          </div>
          <IconButton label={t("remove_expected")} onClick={() => onChange(rows.filter((one) => one.key !== row.key))}>
            <X />
          </IconButton>
        </div>
      ))}
      <div>
        <Button size="sm" icon={<Plus />} onClick={add}>
          {t("add_expected")}
        </Button>
      </div>
    </fieldset>
  );
}

const wrong = (row: Expected) => row.kind === "json_schema" && row.text !== "" && !isSchema(row.text);
