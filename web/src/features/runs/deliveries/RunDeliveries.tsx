import { useQuery } from "@tanstack/react-query";
import { Send } from "lucide-react";
import { deliveriesQuery } from "@/api/queries/runs";
import { useRights } from "@/api/rights";
import type { DeliveryOut, RunOut } from "@/api/types";
import { Button, Callout, Problem, Skeleton } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { isOver } from "../model/live";
import { useNames } from "../model/useNames";
import { useRunTexts } from "../texts";
import { DeliveryView } from "./DeliveryView";
import { useRedeliver } from "./useRedeliver";

const failedOf = (deliveries: readonly DeliveryOut[] | undefined) =>
  (deliveries ?? []).filter(({ status }) => status === "failed");

/** All deliveries of a run: those that failed can be sent again, one or all. */
export function RunDeliveries({ run }: { run: RunOut }) {
  const t = useRunTexts();
  const { may } = useRights();
  const spaceId = useDraft((state) => state.spaceId);
  const names = useNames(run.steps);
  const { data, error, isError, refetch } = useQuery(deliveriesQuery(run.id, !isOver(run.status)));
  const redeliver = useRedeliver(run.id);
  const start = may("runs.start", spaceId);
  if (isError) return <Problem error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton className="h-24" />;
  if (data.length === 0) return <p className="text-sm text-muted">{t("no_deliveries")}</p>;
  return (
    <div className="flex flex-col gap-4">
      {start && failedOf(data).length > 1 && (
        <Button
          size="sm"
          className="self-start"
          icon={<Send />}
          busy={redeliver.isPending}
          onClick={() => redeliver.mutate(null)}
        >
          {t("redeliver_all")}
        </Button>
      )}
      <ul
        aria-label={t("deliveries")}
        className="flex flex-col divide-y divide-line [&>li]:py-4 [&>li:first-child]:pt-0 [&>li:last-child]:pb-0"
      >
        {data.map((one) => (
          <li key={one.id}>
            <DeliveryView
              delivery={one}
              title={names[one.step_id] ?? one.step_id}
              again={start && one.status === "failed"}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Says that deliveries of a run failed, and leads to them. */
export function DeliveriesFailed({ run, onShow }: { run: RunOut; onShow: () => void }) {
  const t = useRunTexts();
  const { data } = useQuery(deliveriesQuery(run.id, !isOver(run.status)));
  const failed = failedOf(data);
  if (failed.length === 0) return null;
  return (
    <Callout
      tone="warn"
      title={t("deliveries_failed", { count: failed.length })}
      action={
        <Button size="sm" onClick={onShow}>
          {t("show_deliveries")}
        </Button>
      }
    />
  );
}
