import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { BellRing, Plus } from "lucide-react";
import { useState } from "react";
import { alertRulesQuery } from "@/api/queries/alerts";
import { flowQuery } from "@/api/queries/flows";
import { useRights } from "@/api/rights";
import { Page } from "@/components/page";
import { Button, EmptyState, Listing } from "@/components/ui";
import { useTitle } from "@/lib/title";
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
  useTitle(t("alerts"));
  const manages = may("alerts.manage", flow?.space_id);
  const add = manages && (
    <Button kind="primary" icon={<Plus />} onClick={() => setAdding({})}>
      {t("add")}
    </Button>
  );
  return (
    <Page
      title={t("alerts")}
      about={flow ? t("about_flow", { name: flow.name }) : t("about")}
      actions={
        <>
          {flowId && (
            <Link to="/alerts" search={{}} className="font-medium text-accent text-sm hover:underline">
              {t("all_rules")}
            </Link>
          )}
          {(rules.data?.length ?? 0) > 0 && add}
        </>
      }
    >
      <Listing
        label={t("alerts")}
        query={rules}
        empty={
          <EmptyState icon={<BellRing />} title={t("none")} action={add}>
            {manages && (
              <div className="flex flex-col items-center gap-3">
                {t("none_more")}
                <div className="flex flex-wrap justify-center gap-2">
                  {(Object.keys(SUGGESTIONS) as Suggested[]).map((id) => (
                    <Button key={id} size="sm" onClick={() => setAdding({ name: t(id), suggestion: SUGGESTIONS[id] })}>
                      {t(id)}
                    </Button>
                  ))}
                </div>
              </div>
            )}
          </EmptyState>
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
    </Page>
  );
}
