import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { BellRing, Plus } from "lucide-react";
import { useEffect, useState } from "react";
import { alertRulesQuery } from "@/api/queries/alerts";
import { flowQuery } from "@/api/queries/flows";
import { useRights } from "@/api/rights";
import { Button, EmptyState, Listing } from "@/components/ui";
import { SUGGESTIONS, type Suggestion } from "./draft";
import { RuleDialog } from "./RuleDialog";
import { RuleItem } from "./RuleItem";
import { useAlertTexts } from "./texts";

type Suggested = keyof typeof SUGGESTIONS;

/** The alert rules of the user's spaces, or of one flow. */
export function AlertsPage() {
  const t = useAlertTexts();
  const { may } = useRights();
  const { flow: flowId } = useSearch({ strict: false });
  const flow = useQuery({ ...flowQuery(flowId ?? ""), enabled: flowId !== undefined }).data;
  const rules = useInfiniteQuery({ ...alertRulesQuery(flowId), placeholderData: keepPreviousData });
  const [adding, setAdding] = useState<{ name?: string; suggestion?: Suggestion } | null>(null);
  useEffect(() => {
    document.title = `${t("alerts")} · Headgate`;
  }, [t]);
  const manages = may("alerts.manage", flow?.space_id);
  const add = manages && (
    <Button kind="primary" icon={<Plus />} onClick={() => setAdding({})}>
      {t("add")}
    </Button>
  );
  return (
    <div className="mx-auto flex max-w-4xl flex-col gap-4 px-4 py-6 lg:px-8">
      <header className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 flex-1 basis-64">
          <h1 className="font-semibold text-2xl">{t("alerts")}</h1>
          <p className="mt-0.5 text-muted text-sm">{flow ? t("about_flow", { name: flow.name }) : t("about")}</p>
        </div>
        {flowId && (
          <Link to="/alerts" search={{}} className="self-center font-medium text-accent text-sm hover:underline">
            {t("all_rules")}
          </Link>
        )}
        {(rules.data?.length ?? 0) > 0 && add}
      </header>
      <Listing
        label={t("alerts")}
        query={rules}
        empty={
          <div className="rounded-lg border border-line border-dashed">
            <EmptyState icon={<BellRing />} title={t("none")} action={add}>
              {manages && (
                <div className="flex flex-col items-center gap-3">
                  {t("none_more")}
                  <div className="flex flex-wrap justify-center gap-2">
                    {(Object.keys(SUGGESTIONS) as Suggested[]).map((id) => (
                      <Button
                        key={id}
                        size="sm"
                        onClick={() => setAdding({ name: t(id), suggestion: SUGGESTIONS[id] })}
                      >
                        {t(id)}
                      </Button>
                    ))}
                  </div>
                </div>
              )}
            </EmptyState>
          </div>
        }
      >
        {(rule) => <RuleItem key={rule.id} rule={rule} ofFlow={flowId !== undefined} />}
      </Listing>
      {rules.hasNextPage && (
        <Button className="self-center" busy={rules.isFetchingNextPage} onClick={() => void rules.fetchNextPage()}>
          {t("more")}
        </Button>
      )}
      {adding && (
        <RuleDialog
          {...adding}
          {...(flow ? { flow: { id: flow.id, name: flow.name, spaceId: flow.space_id } } : {})}
          onClose={() => setAdding(null)}
        />
      )}
    </div>
  );
}
