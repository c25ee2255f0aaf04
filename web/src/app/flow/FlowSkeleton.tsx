import { Skeleton } from "@/components/ui";
import { useAppTexts } from "../texts";

/** An open flow before it is there: its header and its palette stand where they will. */
export function FlowSkeleton() {
  const t = useAppTexts();
  return (
    <div role="status" aria-label={t("loading")} className="flex h-full min-h-0 flex-col">
      <div className="flex h-12 shrink-0 items-center gap-3 border-line border-b bg-surface px-4">
        <Skeleton className="h-5 w-40" />
        <Skeleton className="mx-auto h-7 w-80 max-md:hidden" />
        <Skeleton className="h-8 w-44 max-md:ml-auto max-md:w-20" />
      </div>
      <div className="flex min-h-0 flex-1">
        <div className="w-60 shrink-0 border-line border-r bg-surface max-md:hidden" />
        <div className="flex-1 bg-canvas" />
      </div>
    </div>
  );
}
