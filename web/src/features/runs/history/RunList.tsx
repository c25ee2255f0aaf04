import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { History, SearchX } from "lucide-react";
import { useMemo } from "react";
import { runsQuery } from "@/api/queries/runs";
import { listKeys, useSelection } from "@/components/lists";
import { Button, buttonLook, cx, EmptyState, Problem, Skeleton } from "@/components/ui";
import { useRunTexts } from "../texts";
import { isColumn, type RunColumn, WIDTHS } from "./columns";
import { Filters } from "./Filters";
import { ListMenus } from "./ListMenus";
import { RedeliverAll } from "./RedeliverAll";
import { RunBulkBar } from "./RunBulkBar";
import { RunRow } from "./RunRow";
import { useColumns } from "./useColumns";
import { useRunFilter } from "./useRunFilter";

interface RunListProps {
  flowId: string | undefined;
  status: string | undefined;
  /** The trigger whose runs are shown at first. */
  triggerId?: string | undefined;
  /** Names of flows, where runs of several are shown. */
  names?: Record<string, string>;
  onStatus: (status: string | undefined) => void;
  onFlow?: (flow: string | undefined) => void;
}

/** Past and present runs with filters, a page after the other; those under way are asked after again and again. */
export function RunList({ flowId, status, triggerId, names, onStatus, onFlow }: RunListProps) {
  const t = useRunTexts();
  const {
    filter,
    filters,
    apply,
    fields,
    undelivered,
    clear: clearFields,
    filtered: chose,
  } = useRunFilter({ flowId, triggerId, status, onStatus });
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = useInfiniteQuery(
    runsQuery({ ...filter, details: true }),
  );
  const runs = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data]);
  const selection = useSelection(useMemo(() => runs.map((run) => run.id), [runs]));
  const { columns, setColumns } = useColumns();
  const filtered = chose || Boolean(names && flowId);
  const clear = () => {
    clearFields();
    onFlow?.(undefined);
  };
  return (
    <div className="flex flex-col gap-3">
      <Filters {...fields} flow={flowId} {...(names && onFlow ? { names, onFlow } : {})} />
      <ListMenus
        filter={filter}
        filters={filters}
        columns={columns}
        onColumns={setColumns}
        onView={(view) => {
          apply(view);
          setColumns((view.settings.columns ?? []).filter(isColumn));
        }}
      />
      {error && <Problem error={error} retry={() => void refetch()} />}
      {isPending && <Skeleton className="h-96" />}
      {data &&
        runs.length === 0 &&
        (filtered ? <NoneFound further={hasNextPage} onClear={clear} /> : <NoRuns everywhere={names !== undefined} />)}
      {undelivered && runs.length > 0 && <RedeliverAll flowId={flowId} />}
      {runs.length > 0 && <Head columns={columns} />}
      {runs.length > 0 && (
        <ul
          aria-label={t("runs")}
          onKeyDown={listKeys(selection)}
          className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface"
        >
          {runs.map((run) => (
            <RunRow key={run.id} run={run} flowName={names?.[run.flow_id]} selection={selection} columns={columns} />
          ))}
        </ul>
      )}
      <RunBulkBar selection={selection} runs={runs} />
      {hasNextPage && (
        <Button className="self-center" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t(fields.search ? "further_back" : "more")}
        </Button>
      )}
      {names && flowId && (
        <Link to="/flows/$flowId" params={{ flowId }} className="self-start text-sm text-accent hover:underline">
          {t("open_flow")}
        </Link>
      )}
    </div>
  );
}

/** Names of the columns, where there is room for them. */
function Head({ columns }: { columns: readonly RunColumn[] }) {
  const t = useRunTexts();
  return (
    <div aria-hidden className="-mb-2 hidden gap-3 px-3 text-xs text-faint lg:flex">
      <span className="flex-1" />
      {columns.map((column) => (
        <span key={column} className={cx("shrink-0", WIDTHS[column])}>
          {t(`column_${column}`)}
        </span>
      ))}
      <span className="w-24 text-right">{t("col_started")}</span>
    </div>
  );
}

function NoRuns({ everywhere }: { everywhere: boolean }) {
  const t = useRunTexts();
  const toFlows = (
    <Link to="/" className={buttonLook()}>
      {t("to_flows")}
    </Link>
  );
  return (
    <EmptyState icon={<History />} title={t("no_runs")} action={everywhere && toFlows}>
      {t("no_runs_more")}
    </EmptyState>
  );
}

/** A search looks through so many runs at a time: there may be more further back. */
function NoneFound({ further, onClear }: { further: boolean; onClear: () => void }) {
  const t = useRunTexts();
  return (
    <EmptyState
      icon={<SearchX />}
      title={t(further ? "none_so_far" : "none_found")}
      action={<Button onClick={onClear}>{t("clear_filters")}</Button>}
    >
      {t(further ? "none_so_far_more" : "none_found_more")}
    </EmptyState>
  );
}
