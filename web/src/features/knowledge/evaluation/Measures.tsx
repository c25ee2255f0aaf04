import type { Evaluation } from "@/api/queries/evaluations";
import { Button, cx } from "@/components/ui";
import { dateTime, number } from "@/lib/i18n/format";
import { useMetadataTexts } from "../metadata/texts";
import { shown as shownFilter } from "../search/SearchFilters";
import { useKnowledgeTexts } from "../texts";
import { wayOf } from "./way";

interface MeasuresProps {
  evaluations: Evaluation[];
  shown: string | undefined;
  onShow: (id: string) => void;
}

/** Evaluations side by side: what each measured, and the settings of the base at its time. */
export function Measures({ evaluations, shown, onShow }: MeasuresProps) {
  const t = useKnowledgeTexts();
  const tm = useMetadataTexts();
  return (
    <div className="overflow-x-auto rounded-lg border border-line bg-surface">
      <table className="w-full text-left text-sm">
        <thead className="text-muted">
          <tr>
            {(["search_by", "recall", "ndcg", "mrr", "complete"] as const).map((column) => (
              <th
                key={column}
                scope="col"
                title={t(`${column}_more`)}
                className="px-3 py-2 font-medium whitespace-nowrap"
              >
                {t(column)}
              </th>
            ))}
          </tr>
        </thead>
        {evaluations.map((row) => (
          <tbody key={row.id} className={cx("border-t border-line align-top", row.id === shown && "bg-hover")}>
            <tr>
              <th scope="rowgroup" colSpan={5} className="px-3 pt-2 font-normal">
                <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
                  <Button size="sm" aria-pressed={row.id === shown} onClick={() => onShow(row.id)}>
                    {dateTime(row.created_at)}
                  </Button>
                  <span className="min-w-0 wrap-anywhere text-xs text-muted">
                    {[
                      t("questions_count", { count: row.questions }),
                      row.skipped > 0 && t("skipped_count", { count: row.skipped }),
                      t("passage_size", { tokens: row.passage_tokens, overlap: row.overlap_tokens }),
                      ...row.filters.map((filter) => shownFilter(filter, tm)),
                      row.embedding_model,
                      row.query_model && t("queries_by", { model: row.query_model, count: row.queries }),
                      row.rerank_model && t("reranked_by", { model: row.rerank_model, count: row.rerank_candidates }),
                    ]
                      .filter(Boolean)
                      .join(" · ")}
                  </span>
                </span>
              </th>
            </tr>
            {row.measures.map((measure) => (
              <tr key={wayOf(t, measure)}>
                <td className="px-3 py-2">{wayOf(t, measure)}</td>
                <Value value={measure.recall} />
                <Value value={measure.ndcg} />
                <Value value={measure.mrr} />
                <td className="px-3 py-2 tabular-nums whitespace-nowrap">
                  {t("of", { count: measure.complete, all: row.questions - row.skipped })}
                </td>
              </tr>
            ))}
            {row.measures.length === 0 && (
              <tr>
                <td colSpan={5} className="px-3 py-2 text-muted">
                  {t("all_skipped")}
                </td>
              </tr>
            )}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function Value({ value }: { value: number }) {
  return (
    <td className="px-3 py-2 tabular-nums">
      <span className="flex items-center gap-2">
        <span className="sm:w-10">{number(value, 2)}</span>
        <svg
          aria-hidden
          viewBox="0 0 100 6"
          preserveAspectRatio="none"
          className="h-1.5 w-16 rounded-full bg-sunken max-sm:hidden"
        >
          <rect width={value * 100} height="6" className="fill-accent" />
        </svg>
      </span>
    </td>
  );
}
