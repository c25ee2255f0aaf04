import { useMemo } from "react";
import type { FlowFilter, FlowItem } from "@/api/queries/flowList";
import { useRights } from "@/api/rights";
import { listKeys, useSelection } from "@/components/lists";
import { Skeleton } from "@/components/ui";
import { useHomeTexts } from "../texts";
import { FlowBulkBar } from "./FlowBulkBar";
import { FlowCard, FlowLine } from "./FlowCard";
import type { ListView } from "./FlowTools";
import { useBulk } from "./useBulk";

const GRID = "grid grid-cols-[repeat(auto-fill,minmax(min(100%,17rem),1fr))] gap-4";
const LINES = "divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface";

interface FlowListProps {
  items: FlowItem[];
  view: ListView;
  filter: FlowFilter;
}

/** Flows that can be selected, by mouse or keys, to change several at once. */
export function FlowList({ items, view, filter }: FlowListProps) {
  const t = useHomeTexts();
  const { may } = useRights();
  const apply = useBulk();
  const selection = useSelection(useMemo(() => items.map((item) => item.id), [items]));
  const Entry = view === "grid" ? FlowCard : FlowLine;
  const trash = filter.show === "trash";
  const remove = () => {
    void apply(selection.ids, { action: "delete", tags: [] });
    selection.clear();
  };
  const published = items.some((item) => selection.has(item.id) && item.published_version !== null);
  return (
    <>
      {/* The links in it have the focus; the list only hears their keys. */}
      <ul
        aria-label={t("flows")}
        className={view === "grid" ? GRID : LINES}
        onKeyDown={listKeys(selection, may("flows.edit") && !trash ? remove : undefined)}
      >
        {items.map((item) => (
          <Entry key={item.id} item={item} selection={selection} folder={filter.folder ?? ""} />
        ))}
      </ul>
      {may("flows.edit") && (
        <FlowBulkBar selection={selection} space={filter.space} trash={trash} published={published} />
      )}
    </>
  );
}

const PLACES = Array.from({ length: 8 }, (_, place) => `place-${place}`);

/** The list while it is fetched: cards of their final size. */
export function FlowListSkeleton({ view }: { view: ListView }) {
  return (
    <div aria-hidden className={view === "grid" ? GRID : "flex flex-col gap-2"}>
      {PLACES.map((place) => (
        <Skeleton key={place} className={view === "grid" ? "h-62" : "h-12"} />
      ))}
    </div>
  );
}
