import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { useDeferredValue, useRef, useState } from "react";
import { type FlowFilter, type FlowSort, flowListQuery } from "@/api/queries/flowList";
import { useRights } from "@/api/rights";
import { Button, cx, EmptyState, Problem } from "@/components/ui";
import { readStored, writeStored } from "@/lib/storage";
import { Composer } from "./create/Composer";
import { useCreateFlow } from "./create/useCreateFlow";
import { FirstVisit } from "./FirstVisit";
import { Importing } from "./imports/Importing";
import { FlowList, FlowListSkeleton } from "./list/FlowList";
import { FlowTools, type ListView } from "./list/FlowTools";
import { NoModel } from "./NoModel";
import { useHomeTexts } from "./texts";

const route = getRouteApi("/inside/");

/** The first page: what should it do, and the flows that are there. */
export function HomePage() {
  const t = useHomeTexts();
  const address = route.useSearch();
  const navigate = route.useNavigate();
  const input = useRef<HTMLTextAreaElement>(null);
  const [sort, setSort] = useState<FlowSort>(() => readStored<FlowSort>("home.sort", "updated"));
  const [view, setView] = useState<ListView>(() => readStored<ListView>("home.view", "grid"));
  const [choosing, setChoosing] = useState(false);
  const [cleared, setCleared] = useState(0);
  const search = useDeferredValue(address.search ?? "");
  const filter: FlowFilter = { search, space: address.space, sort };
  const found = useInfiniteQuery(flowListQuery(filter));
  const { builds, space } = useWhere(address.space);
  const make = useCreateFlow(space);
  const items = found.data?.pages.flatMap((page) => page.items) ?? [];
  const filtered = Boolean(search || address.space);
  const isFirst = found.isSuccess && items.length === 0 && !filtered && !found.isPlaceholderData;

  const change = ({ sort: order, ...rest }: Partial<FlowFilter>) => {
    if (order) {
      writeStored("home.sort", order);
      setSort(order);
    }
    if ("search" in rest || "space" in rest) {
      void navigate({ search: (now) => clean({ ...now, ...rest }), replace: true, resetScroll: false });
    }
  };
  const clear = () => {
    void navigate({ search: {}, replace: true });
    setCleared((times) => times + 1);
  };
  return (
    <Importing choosing={choosing} onChoosing={setChoosing} space={space}>
      <div className="mx-auto flex w-full max-w-7xl flex-col gap-6 px-4 pb-16 sm:px-8">
        {builds && (
          <Composer
            input={input}
            busy={make.busy}
            refusal={make.refusal}
            onAsk={make.sentence}
            onEmpty={make.empty}
            onFile={() => setChoosing(true)}
            elsewhere={address.space !== space}
          />
        )}
        {builds && <NoModel />}
        {isFirst ? (
          <FirstVisit builds={builds} />
        ) : (
          <section aria-labelledby="flows" className="flex flex-col gap-4">
            <div className={cx("flex flex-col gap-x-6 gap-y-2 sm:flex-row sm:items-center", !builds && "pt-8")}>
              <h2 id="flows" className="text-lg font-semibold">
                {t("flows")}
              </h2>
              <div className="min-w-0 flex-1">
                <FlowTools
                  key={cleared}
                  filter={{ ...filter, search: address.search ?? "" }}
                  view={view}
                  onFilter={change}
                  onView={(next) => {
                    writeStored("home.view", next);
                    setView(next);
                  }}
                />
              </div>
            </div>
            {found.isError && <Problem error={found.error} retry={() => void found.refetch()} />}
            {found.isPending && <FlowListSkeleton view={view} />}
            {items.length > 0 && <FlowList items={items} view={view} />}
            {found.isSuccess && items.length === 0 && !found.isPlaceholderData && (
              <EmptyState
                icon={<SearchX />}
                title={t("none_found")}
                action={<Button onClick={clear}>{t("clear")}</Button>}
              >
                {t("none_found_more")}
              </EmptyState>
            )}
            {found.hasNextPage && (
              <Button
                className="self-center"
                busy={found.isFetchingNextPage}
                onClick={() => void found.fetchNextPage()}
              >
                {t("more")}
              </Button>
            )}
          </section>
        )}
      </div>
    </Importing>
  );
}

/** Where flows are made: in the space that is shown, or, where one only looks, in one's own. */
function useWhere(shown: string | undefined) {
  const { may } = useRights();
  return { builds: may("flows.edit"), space: shown && may("flows.edit", shown) ? shown : undefined };
}

function clean(search: { space?: string | undefined; search?: string | undefined }) {
  return { search: search.search || undefined, space: search.space || undefined };
}
