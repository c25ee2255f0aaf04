import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Problem, Skeleton } from "./Feedback";
import { Rows } from "./Rows";

interface ListingProps<T> {
  label: string;
  query: Pick<UseQueryResult<readonly T[]>, "data" | "isPending" | "isError" | "error"> & { refetch: () => unknown };
  empty: ReactNode;
  children: (item: T) => ReactNode;
}

/** A list that is asked for: its place while it comes, what went wrong, what to do when there is nothing. */
export function Listing<T>({ label, query, empty, children }: ListingProps<T>) {
  if (query.isError) return <Problem error={query.error} retry={() => void query.refetch()} />;
  if (query.isPending || !query.data) {
    return (
      <div className="flex flex-col gap-2">
        <Skeleton className="h-14" />
        <Skeleton className="h-14" />
      </div>
    );
  }
  if (query.data.length === 0) return <>{empty}</>;
  return <Rows label={label}>{query.data.map(children)}</Rows>;
}
