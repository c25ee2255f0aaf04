import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check } from "lucide-react";
import { useMemo, useState } from "react";
import {
  type AttentionAction,
  type AttentionFilter,
  type AttentionResult,
  attentionQuery,
} from "@/api/queries/attention";
import { SelectionBar, useSelection } from "@/components/lists";
import { Button, Problem, Rows, Skeleton } from "@/components/ui";
import { ActionsMenu } from "./attention/ActionsMenu";
import { AttentionFilters } from "./attention/AttentionFilters";
import { AttentionRow } from "./attention/AttentionRow";
import { ResultsDialog } from "./attention/ResultsDialog";
import { useAct } from "./attention/useAct";
import { useObserveTexts } from "./texts";

/** What needs a human: failures with the same error in one line, stopped triggers, connections, waiting approvals. */
export function NeedsAttention({ space }: { space: string | null }) {
  const t = useObserveTexts();
  const [chosen, setChosen] = useState<AttentionFilter>({});
  const [dismissed, setDismissed] = useState(false);
  const filter = { ...chosen, ...(space ? { space_id: space } : {}), ...(dismissed ? { dismissed } : {}) };
  const attention = useQuery(attentionQuery(filter));
  const items = useMemo(() => attention.data?.items ?? [], [attention.data]);
  const selection = useSelection(useMemo(() => items.filter((item) => item.last_at).map((item) => item.key), [items]));
  const act = useAct();
  const [results, setResults] = useState<{ of: typeof items; all: AttentionResult[] } | null>(null);
  const onAct = (body: AttentionAction) =>
    act.mutate(body, {
      onSuccess: (answer) => {
        selection.clear();
        if (answer.items.some((one) => one.problem)) setResults({ of: items, all: answer.items });
      },
    });
  const narrowed = Object.values(chosen).some((value) => value !== undefined);
  return (
    <section aria-label={t("attention")} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-3 whitespace-nowrap">
        <h2 className="flex-1 basis-full font-semibold sm:basis-0">{t("attention")}</h2>
        <Button size="sm" kind="ghost" aria-pressed={dismissed} onClick={() => setDismissed(!dismissed)}>
          {t(dismissed ? "without_dismissed" : "with_dismissed")}
        </Button>
        <Link to="/queue" className="rounded-sm text-sm text-accent hover:underline">
          {t("queue")}
        </Link>
        <Link to="/service-levels" className="rounded-sm text-sm text-accent hover:underline">
          {t("service_levels")}
        </Link>
        <Link to="/alerts" className="rounded-sm text-sm text-accent hover:underline">
          {t("alert_rules")}
        </Link>
      </div>
      {(narrowed || items.length > 0) && <AttentionFilters filter={chosen} space={space} onChange={setChosen} />}
      {attention.isError && <Problem error={attention.error} retry={() => void attention.refetch()} />}
      {attention.isPending && <Skeleton className="h-12" />}
      {attention.data && items.length === 0 && (
        <p className="flex items-center gap-2 rounded-lg border border-line bg-surface px-4 py-3 text-muted">
          <Check aria-hidden className="size-4.5 text-ok" />
          {t(narrowed ? "attention_none_found" : "attention_none")}
        </p>
      )}
      {items.length > 0 && (
        <Rows label={t("attention")}>
          {items.map((item) => (
            <AttentionRow key={item.key} item={item} selection={selection} busy={act.isPending} onAct={onAct} />
          ))}
        </Rows>
      )}
      {(attention.data?.more ?? []).length > 0 && <p className="text-sm text-muted">{t("attention_more")}</p>}
      <SelectionBar
        count={selection.ids.length}
        onClear={selection.clear}
        className="sticky bottom-3 z-20 rounded-lg border shadow-float"
      >
        <ActionsMenu items={items.filter((item) => selection.has(item.key))} busy={act.isPending} onAct={onAct} />
      </SelectionBar>
      {results && <ResultsDialog results={results.all} items={results.of} onClose={() => setResults(null)} />}
    </section>
  );
}
