import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Hourglass } from "lucide-react";
import { type Queue, queueQuery } from "@/api/queries/queue";
import { spacesQuery } from "@/api/queries/spaces";
import { Page } from "@/components/page";
import { Callout, cx, EmptyState, Problem, Skeleton } from "@/components/ui";
import { ago, number } from "@/lib/i18n/format";
import { useTitle } from "@/lib/title";
import { Bars, COLOURS, STATES } from "./Bars";
import { countsBy, stateOf } from "./counting";
import { Limits, limitName } from "./Limits";
import { useQueueTexts } from "./texts";
import { WaitingRuns } from "./WaitingRuns";

const MOST_BARS = 12;

/** What waits and why, what runs, and the limits in use. */
export function QueuePage() {
  const t = useQueueTexts();
  const queue = useQuery(queueQuery);
  useTitle(t("queue"));
  const manages = queue.data?.workers != null;
  return (
    <Page
      title={t("queue")}
      about={t("about")}
      actions={
        manages && (
          <Link
            to="/settings/{-$section}"
            params={{ section: "processes" }}
            className="font-medium text-accent text-sm hover:underline"
          >
            {t("processes")}
          </Link>
        )
      }
    >
      {queue.isError && <Problem error={queue.error} retry={() => void queue.refetch()} />}
      {queue.isPending && <Skeleton className="h-56" />}
      {queue.data && <Contents queue={queue.data} />}
    </Page>
  );
}

function Contents({ queue }: { queue: Queue }) {
  const t = useQueueTexts();
  const spaces = new Map((useQuery(spacesQuery).data ?? []).map(({ id, name }) => [id, name]));
  const { groups, limits, tenants } = queue;
  const waits = groups.filter((group) => group.reason !== null);
  const names = new Map(limits.map((limit) => [limit.name, limitName(t, limit, spaces.get(limit.name.slice(6)))]));
  const flows = new Map(groups.map((group) => [group.flow_id, group.flow]));
  const parts = [
    {
      title: t("reasons"),
      bars: countsBy(waits, (group) => group.reason ?? "").map(([id, counts]) => ({
        id,
        name: t(`reason_${id as "limit"}`),
        counts,
      })),
    },
    {
      title: t("by_flow"),
      bars: countsBy(groups, (group) => group.flow_id).map(([id, counts]) => ({
        id,
        name: (
          <Link to="/flows/$flowId/runs" params={{ flowId: id }} className="text-accent hover:underline">
            {flows.get(id)}
          </Link>
        ),
        counts,
      })),
    },
    {
      title: t("by_space"),
      bars: countsBy(groups, (group) => group.space_id).map(([id, counts]) => ({
        id,
        name: spaces.get(id) ?? id,
        counts,
      })),
    },
    {
      title: t("by_priority"),
      bars: countsBy(groups, (group) => group.priority_class).map(([id, counts]) => ({
        id,
        name: t(id as "high"),
        counts,
      })),
    },
    { title: t("by_tenant"), bars: tenants.map((of) => ({ id: of.id, name: of.name, counts: of })) },
  ];
  const [first, second, ...rest] = parts;
  const drawn = [first, second, ...rest.filter((part) => part.bars.length > 1)].filter((part) => part?.bars.length);
  return (
    <>
      {queue.workers === 0 && <Callout tone="warn">{t("workers_none")}</Callout>}
      {queue.more && <Callout>{t("more")}</Callout>}
      <Figures queue={queue} />
      {drawn.length === 0 && (
        <div className="rounded-lg border border-line border-dashed">
          <EmptyState icon={<Hourglass />} title={t("none")}>
            {t("none_more")}
          </EmptyState>
        </div>
      )}
      <div className="gap-5 empty:hidden lg:columns-2 [&>*]:mb-5 [&>*]:break-inside-avoid">
        {drawn.map((part) => part && <Bars key={part.title} title={part.title} bars={part.bars.slice(0, MOST_BARS)} />)}
      </div>
      {waits.length > 0 && <WaitingRuns runs={queue.runs} nameOf={(limit) => names.get(limit) ?? limit} />}
      <Limits limits={limits} nameOf={(limit) => names.get(limit.name) ?? limit.name} />
    </>
  );
}

/** How many runs wait, run and are paused, and since when the first. */
function Figures({ queue }: { queue: Queue }) {
  const t = useQueueTexts();
  return (
    <dl className="grid grid-cols-3 gap-3">
      {STATES.map((state) => {
        const times = queue.groups.filter((group) => stateOf(group) === state).map((group) => group.oldest_at);
        const [oldest] = times.sort();
        return (
          <div key={state} className="min-w-0 rounded-lg border border-line bg-surface px-4 py-3">
            <dt className="flex items-center gap-2 text-muted text-sm">
              <span aria-hidden className={cx("size-2 shrink-0 rounded-full", COLOURS[state])} />
              <span className="truncate">{t(state)}</span>
            </dt>
            <dd className="font-semibold text-2xl tabular-nums">
              {number(queue[state])}
              {queue.more && "+"}
            </dd>
            {oldest && <dd className="text-muted text-xs">{t("oldest", { when: ago(oldest) })}</dd>}
          </div>
        );
      })}
    </dl>
  );
}
