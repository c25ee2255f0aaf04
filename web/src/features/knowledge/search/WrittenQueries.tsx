import type { SearchOptions } from "@/api/queries/knowledge";
import { ModelPicker } from "@/components/models/ModelPicker";
import { modelName } from "@/components/models/modelValue";
import { Field, Select } from "@/components/ui";
import { useKnowledgeTexts } from "../texts";

type Written = SearchOptions["written"];

export const NONE_WRITTEN: Written = { query_model: "", queries: 0 };

interface WrittenQueriesProps {
  value: Written;
  onChange: (value: Written) => void;
}

/** Whether a model writes queries from the question, how many, and which model. */
export function WrittenQueries({ value, onChange }: WrittenQueriesProps) {
  const t = useKnowledgeTexts();
  return (
    <>
      <Field label={t("queries")}>
        {(control) => (
          <Select
            {...control}
            value={String(value.queries)}
            onChange={(count) => onChange({ ...value, queries: Number(count) })}
            options={["0", "1", "3", "5"].map((count) => ({
              value: count,
              label: t("queries_of", { count: Number(count) }),
            }))}
          />
        )}
      </Field>
      {value.queries > 0 && (
        <div className="min-w-56 max-sm:w-full">
          <ModelPicker
            label={t("query_model")}
            value={value.query_model}
            onChange={(model) => {
              const named = modelName(model);
              if (named) onChange({ ...value, query_model: `${named.provider}/${named.name}` });
            }}
          />
        </div>
      )}
    </>
  );
}
