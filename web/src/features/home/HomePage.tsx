import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useDeferredValue, useRef, useState } from "react";
import { type FlowFilter, type FlowSort, flowListQuery } from "@/api/queries/flowList";
import { useRights } from "@/api/rights";
import { readStored, writeStored } from "@/lib/storage";
import { Composer } from "./create/Composer";
import { useCreateFlow } from "./create/useCreateFlow";
import { FirstVisit } from "./FirstVisit";
import { Importing } from "./imports/Importing";
import { Flows } from "./list/Flows";
import { NoModel } from "./NoModel";

const route = getRouteApi("/inside/");

/** The first page: what should it do, and the flows that are there. */
export function HomePage() {
  const address = route.useSearch();
  const navigate = route.useNavigate();
  const input = useRef<HTMLTextAreaElement>(null);
  const [sort, setSort] = useState<FlowSort>(() => readStored<FlowSort>("home.sort", "updated"));
  const [choosing, setChoosing] = useState(false);
  const search = useDeferredValue(address.search ?? "");
  const { space: shown, folder, tag, show } = address;
  const filter: FlowFilter = { search, space: shown, sort, folder, tag, show };
  const list = useInfiniteQuery(flowListQuery(filter));
  const { builds, space } = useWhere(shown);
  const make = useCreateFlow(space);
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  const filtered = Boolean(search || shown || folder || tag || show);
  const isFirst = list.isSuccess && items.length === 0 && !filtered && !list.isPlaceholderData;

  const change = ({ sort: order, ...rest }: Partial<FlowFilter>) => {
    if (order) {
      writeStored("home.sort", order);
      setSort(order);
    }
    if (Object.keys(rest).length > 0) {
      void navigate({ search: (now) => clean({ ...now, ...rest }), replace: true, resetScroll: false });
    }
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
            elsewhere={shown !== space}
          />
        )}
        {builds && <NoModel />}
        {isFirst ? (
          <FirstVisit builds={builds} />
        ) : (
          <Flows
            list={list}
            filter={filter}
            typed={address.search ?? ""}
            top={!builds}
            onFilter={change}
            onClear={() => void navigate({ search: {}, replace: true })}
          />
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

type Address = ReturnType<typeof route.useSearch>;

/** Without what filters nothing: an empty search is none. */
function clean(search: Address): Address {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value)) as Address;
}
