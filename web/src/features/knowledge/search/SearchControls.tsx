import type { SearchOptions } from "@/api/queries/knowledge";
import { Field, Segments, Select } from "@/components/ui";
import { useKnowledgeTexts } from "../texts";
import { WrittenQueries } from "./WrittenQueries";

const NEIGHBOURS = ["0", "1", "2", "3"];
const RERANK = { automatic: null, required: true, off: false };
const DIVERSITY = { none: 0, some: 0.3, much: 0.6 };

interface SearchControlsProps {
  /** Whether the base has a rerank model. */
  reranks: boolean;
  /** Whether the user may have a model write queries. */
  edits: boolean;
  options: SearchOptions;
  onChange: (options: SearchOptions) => void;
}

/** How passages are found, and what is returned with them: the options of the steps that search. */
export function SearchControls({ reranks, edits, options, onChange }: SearchControlsProps) {
  const t = useKnowledgeTexts();
  const diversity = Object.entries(DIVERSITY).find(([, value]) => value === options.diversity)?.[0] ?? "none";
  const rerank = Object.entries(RERANK).find(([, value]) => value === options.rerank)?.[0] ?? "automatic";
  return (
    <div className="grid gap-2 sm:grid-cols-3">
      {options.mode !== null && (
        <div className="sm:col-span-3">
          <Segments
            aria-label={t("search_by")}
            value={options.mode}
            onChange={(mode) => onChange({ ...options, mode })}
            options={[
              { value: "hybrid", label: t("mode_hybrid") },
              { value: "lexical", label: t("mode_lexical") },
              { value: "vector", label: t("mode_vector") },
            ]}
          />
        </div>
      )}
      <Field label={t("neighbours")}>
        {(control) => (
          <Select
            {...control}
            value={String(options.neighbours)}
            onChange={(value) => onChange({ ...options, neighbours: Number(value) })}
            options={NEIGHBOURS.map((value) => ({ value, label: t("neighbours_of", { count: Number(value) }) }))}
          />
        )}
      </Field>
      <Field label={t("diversity")}>
        {(control) => (
          <Select
            {...control}
            value={diversity}
            onChange={(value) => onChange({ ...options, diversity: DIVERSITY[value as keyof typeof DIVERSITY] })}
            options={[
              { value: "none", label: t("diversity_none") },
              { value: "some", label: t("diversity_some") },
              { value: "much", label: t("diversity_much") },
            ]}
          />
        )}
      </Field>
      {reranks && (
        <Field label={t("rerank")}>
          {(control) => (
            <Select
              {...control}
              value={rerank}
              onChange={(value) => onChange({ ...options, rerank: RERANK[value as keyof typeof RERANK] })}
              options={[
                { value: "automatic", label: t("rerank_automatic") },
                { value: "required", label: t("rerank_required") },
                { value: "off", label: t("rerank_off") },
              ]}
            />
          )}
        </Field>
      )}
      {edits && <WrittenQueries value={options.written} onChange={(written) => onChange({ ...options, written })} />}
    </div>
  );
}
