import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { SearchX } from "lucide-react";
import { useState } from "react";
import type { FlowFilter, FlowItem } from "@/api/queries/flowList";
import { Button, cx, EmptyState, Problem } from "@/components/ui";
import { readStored, writeStored } from "@/lib/storage";
import { useHomeTexts } from "../texts";
import { FlowList, FlowListSkeleton } from "./FlowList";
import { FlowPlaces } from "./FlowPlaces";
import { FlowTools, type ListView } from "./FlowTools";
import { TrashNote } from "./TrashNote";

interface FlowsProps {
  list: UseInfiniteQueryResult<InfiniteData<{ items: FlowItem[] }>>;
  filter: FlowFilter;
  /** What is in the search field: the list follows a moment later. */
  typed: string;
  /** Nothing is above it on the page. */
  top: boolean;
  onFilter: (change: Partial<FlowFilter>) => void;
  onClear: () => void;
}

/** The flows, with their filters. */
export function Flows({ list, filter, typed, top, onFilter, onClear }: FlowsProps) {
  const t = useHomeTexts();
  const [view, setView] = useState<ListView>(() => readStored<ListView>("home.view", "grid"));
  const [cleared, setCleared] = useState(0);
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section aria-labelledby="flows" className="flex flex-col gap-4">
      <div className={cx("flex flex-col gap-x-6 gap-y-2 sm:flex-row sm:items-center", top && "pt-8")}>
        <h2 id="flows" className="text-lg font-semibold">
          {t("flows")}
        </h2>
        <div className="min-w-0 flex-1">
          <FlowTools
            key={cleared}
            filter={{ ...filter, search: typed }}
            view={view}
            onFilter={onFilter}
            onView={(next) => {
              writeStored("home.view", next);
              setView(next);
            }}
          />
        </div>
      </div>
      <FlowPlaces filter={filter} onFilter={onFilter} />
      {filter.show === "trash" && <TrashNote space={filter.space} />}
      {list.isError && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <FlowListSkeleton view={view} />}
      {items.length > 0 && <FlowList items={items} view={view} filter={filter} />}
      {list.isSuccess && items.length === 0 && !list.isPlaceholderData && (
        <NoFlows
          show={filter.show}
          onClear={() => {
            onClear();
            setCleared((times) => times + 1);
          }}
        />
      )}
      {list.hasNextPage && (
        <Button className="self-center" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t("more")}
        </Button>
      )}
    </section>
  );
}

const NOTHING = {
  trash: ["trash_empty", "trash_empty_more"],
  favourites: ["no_favourites", "no_favourites_more"],
  other: ["none_found", "none_found_more"],
} as const;

function NoFlows({ show, onClear }: { show: FlowFilter["show"]; onClear: () => void }) {
  const t = useHomeTexts();
  const [title, more] = NOTHING[show ?? "other"];
  return (
    <EmptyState icon={<SearchX />} title={t(title)} action={<Button onClick={onClear}>{t("clear")}</Button>}>
      {t(more)}
    </EmptyState>
  );
}
