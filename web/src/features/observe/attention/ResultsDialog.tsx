import { Link } from "@tanstack/react-router";
import { CircleAlert, CircleCheck } from "lucide-react";
import type { AttentionItem, AttentionResult } from "@/api/queries/attention";
import { Dialog, Row, Rows } from "@/components/ui";
import { useObserveTexts } from "../texts";

interface ResultsDialogProps {
  results: readonly AttentionResult[];
  items: readonly AttentionItem[];
  onClose: () => void;
}

/** What became of each run, delivery, trigger or item, where something was refused. */
export function ResultsDialog({ results, items, onClose }: ResultsDialogProps) {
  const t = useObserveTexts();
  const flowOf = (key: string) => items.find((item) => item.key === key);
  const done = results.filter((one) => one.done).length;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("results")}
      description={t("results_more", { done, all: results.length })}
    >
      <Rows label={t("results")}>
        {results.map((one) => {
          const item = flowOf(one.key);
          const ofRun = item?.kind.endsWith("runs") && item.flow_id;
          return (
            <Row
              key={`${one.key} ${one.id}`}
              icon={
                one.done ? (
                  <CircleCheck aria-hidden className="text-ok" />
                ) : (
                  <CircleAlert aria-hidden className="text-bad" />
                )
              }
              title={
                ofRun ? (
                  <Link
                    to="/flows/$flowId/runs/$runId"
                    params={{ flowId: ofRun, runId: one.new_run_id ?? one.id }}
                    className="rounded-sm text-accent hover:underline"
                  >
                    {item?.name} · {(one.new_run_id ?? one.id).slice(-8)}
                  </Link>
                ) : (
                  (item?.name ?? one.key)
                )
              }
              detail={one.problem?.detail ?? t(one.done ? "result_done" : "result_none")}
            />
          );
        })}
      </Rows>
    </Dialog>
  );
}
