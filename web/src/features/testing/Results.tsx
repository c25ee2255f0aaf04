import { useQuery, useQueryClient } from "@tanstack/react-query";
import { FlaskConical, Play, Square } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { type TestResultSummary, type TestSet, testKeys, testResultQuery, testResultsQuery } from "@/api/queries/tests";
import { Button, EmptyState, Problem, Select, Skeleton } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { dateTime } from "@/lib/i18n/format";
import { ResultTable } from "./ResultTable";
import { useTestTexts } from "./texts";
import { TRIALS } from "./trials";
import { useCancel, useRun } from "./useTests";

/** Runs the tests, and shows what that came to: the newest result, or an older one. */
export function Results({ tests, runnable }: { tests: TestSet; runnable: boolean }) {
  const t = useTestTexts();
  const client = useQueryClient();
  const flowId = useDraft((state) => state.flowId);
  const required = useDraft((state) => state.document.settings.required_trials ?? 1);
  const [chosen, setChosen] = useState<string>();
  const [trials, setTrials] = useState<number>();
  const results = useQuery(testResultsQuery(flowId));
  const shown = chosen ?? tests.running ?? results.data?.[0]?.id;
  const result = useQuery({ ...testResultQuery(flowId, shown ?? ""), enabled: shown !== undefined });
  const run = useRun(setChosen);
  const cancel = useCancel();
  const status = result.data?.status;
  const running = status === "running";
  const before = useRef(status);
  useEffect(() => {
    const ended = before.current === "running" && status !== "running";
    before.current = status;
    if (ended) void client.invalidateQueries({ queryKey: testKeys.all(flowId) });
  }, [client, flowId, status]);
  const many = trials ?? required;
  const failed = results.error ?? result.error;
  return (
    <section aria-labelledby="results-heading" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h2 id="results-heading" className="min-w-0 flex-1 basis-32 text-lg font-semibold">
          {t("result")}
        </h2>
        <WhichResult results={results.data ?? []} shown={shown} onChoose={setChosen} />
        <Select
          aria-label={t("trials")}
          className="w-28"
          value={String(many)}
          options={[...new Set([...TRIALS, required])]
            .sort((a, b) => a - b)
            .map((count) => ({ value: String(count), label: t("times", { count }) }))}
          onChange={(next) => setTrials(Number(next))}
        />
        {running && shown ? (
          <Button kind="danger" icon={<Square />} busy={cancel.isPending} onClick={() => cancel.mutate(shown)}>
            {t("stop")}
          </Button>
        ) : (
          <Button
            kind="primary"
            icon={<Play />}
            busy={run.isPending}
            disabled={!runnable || tests.cases.length === 0}
            onClick={() => run.mutate(many)}
          >
            {t("run")}
          </Button>
        )}
      </div>
      {result.data ? (
        <ResultTable flowId={flowId} result={result.data} />
      ) : failed ? (
        <Problem error={failed} retry={() => void (results.error ? results : result).refetch()} />
      ) : results.isPending || shown !== undefined ? (
        <Skeleton className="h-32" />
      ) : (
        <EmptyState icon={<FlaskConical />} title={t("no_result")}>
          {t("no_result_about")}
        </EmptyState>
      )}
    </section>
  );
}

interface WhichResultProps {
  results: TestResultSummary[];
  shown: string | undefined;
  onChoose: (id: string) => void;
}

/** Of when and of which version the result is; a choice where there are several. */
function WhichResult({ results, shown, onChoose }: WhichResultProps) {
  const t = useTestTexts();
  const said = (one: TestResultSummary) => t("result_at", { when: dateTime(one.started_at), version: one.version });
  const only = results[0];
  if (results.length === 1 && only) return <p className="text-sm text-muted">{said(only)}</p>;
  if (results.length === 0) return null;
  return (
    <Select
      aria-label={t("results")}
      className="max-w-64"
      value={shown}
      options={results.map((one) => ({ value: one.id, label: said(one) }))}
      onChange={onChoose}
    />
  );
}
