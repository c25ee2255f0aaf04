import type { FlowItem } from "@/api/queries/flowList";
import { Skeleton } from "@/components/ui";
import { FlowCard, FlowLine } from "./FlowCard";
import type { ListView } from "./FlowTools";

const GRID = "grid grid-cols-[repeat(auto-fill,minmax(min(100%,17rem),1fr))] gap-4";
const LINES = "divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface";

export function FlowList({ items, view }: { items: FlowItem[]; view: ListView }) {
  return view === "grid" ? (
    <ul className={GRID}>
      {items.map((item) => (
        <FlowCard key={item.id} item={item} />
      ))}
    </ul>
  ) : (
    <ul className={LINES}>
      {items.map((item) => (
        <FlowLine key={item.id} item={item} />
      ))}
    </ul>
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
