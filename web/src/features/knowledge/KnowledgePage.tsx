import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { BookOpen, MousePointerClick, Plus } from "lucide-react";
import { useState } from "react";
import { basesQuery } from "@/api/queries/knowledge";
import { meQuery } from "@/api/queries/me";
import { maySomewhere } from "@/api/rights";
import { Button, cx, EmptyState, Problem, Skeleton } from "@/components/ui";
import { BasePanel } from "./BasePanel";
import { DocumentPanel } from "./documents/DocumentPanel";
import { NewBaseDialog } from "./NewBaseDialog";
import { useKnowledgeTexts } from "./texts";

/** Knowledge bases, and next to them the one that is open; one of both on a narrow screen. */
export function KnowledgePage() {
  const t = useKnowledgeTexts();
  const { baseId } = useParams({ from: "/inside/knowledge/{-$baseId}" });
  const { document } = useSearch({ from: "/inside/knowledge/{-$baseId}" });
  const { data: me } = useQuery(meQuery);
  const bases = useQuery(basesQuery);
  const [making, setMaking] = useState(false);
  const add = me !== undefined && maySomewhere(me, "knowledge.edit") && (
    <Button kind="primary" size="sm" icon={<Plus />} onClick={() => setMaking(true)}>
      {t("new_base")}
    </Button>
  );
  const open = bases.data?.find(({ id }) => id === baseId);
  const empty = bases.data?.length === 0;
  return (
    <div className="flex h-full min-h-0">
      <div
        className={cx(
          "flex min-h-0 min-w-0 flex-1 flex-col",
          !empty && "lg:w-80 lg:flex-none lg:border-r lg:border-line",
          open && "hidden lg:flex",
        )}
      >
        <header className="flex shrink-0 flex-wrap items-start justify-between gap-3 px-4 pt-5 pb-3">
          <div>
            <h1 className="text-2xl font-semibold">{t("knowledge")}</h1>
            <p className="mt-0.5 text-sm text-muted">{t("about")}</p>
          </div>
          {!empty && add}
        </header>
        <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-4">
          {bases.isPending && <Skeleton className="mx-2 h-16" />}
          {bases.isError && <Problem error={bases.error} retry={() => void bases.refetch()} />}
          {empty && (
            <EmptyState icon={<BookOpen />} title={t("no_bases")} action={add}>
              {t("no_bases_more")}
            </EmptyState>
          )}
          <ul aria-label={t("bases")} className="flex flex-col gap-0.5">
            {bases.data?.map((base) => (
              <li key={base.id}>
                <Link
                  to="/knowledge/{-$baseId}"
                  params={{ baseId: base.id }}
                  className={cx(
                    "block rounded-md px-3 py-2 hover:bg-hover",
                    base.id === baseId && "bg-accent-soft hover:bg-accent-soft",
                  )}
                >
                  <span className="block truncate font-medium">{base.name}</span>
                  <span className="block text-sm text-muted">
                    {[
                      t("documents_count", { count: base.documents }),
                      base.waiting > 0 && t("waiting_count", { count: base.waiting }),
                      base.failed > 0 && t("failed_count", { count: base.failed }),
                    ]
                      .filter(Boolean)
                      .join(" · ")}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        </div>
      </div>
      {open ? (
        <div className="min-h-0 min-w-0 flex-1 overflow-y-auto">
          {document ? (
            <DocumentPanel key={document} baseId={open.id} documentId={document} />
          ) : (
            <BasePanel key={open.id} base={open} />
          )}
        </div>
      ) : (
        !empty && (
          <div className="hidden flex-1 items-center justify-center text-muted lg:flex">
            <p className="flex items-center gap-2">
              <MousePointerClick aria-hidden className="size-4" />
              {t("nothing_open")}
            </p>
          </div>
        )
      )}
      {making && <NewBaseDialog onClose={() => setMaking(false)} />}
    </div>
  );
}
