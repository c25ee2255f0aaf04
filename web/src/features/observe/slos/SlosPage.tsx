import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { Gauge, Plus } from "lucide-react";
import { useState } from "react";
import { flowQuery } from "@/api/queries/flows";
import { slosQuery } from "@/api/queries/slos";
import { useRights } from "@/api/rights";
import { Page } from "@/components/page";
import { Button, EmptyState, Listing } from "@/components/ui";
import { useTitle } from "@/lib/title";
import { SloDialog } from "./SloDialog";
import { SloItem } from "./SloItem";
import { useSloTexts } from "./texts";

/** The service levels of the user's spaces, or of one flow. */
export function SlosPage() {
  const t = useSloTexts();
  const { may } = useRights();
  const { flow: flowId } = useSearch({ strict: false });
  const flow = useQuery({ ...flowQuery(flowId ?? ""), enabled: flowId !== undefined }).data;
  const slos = useQuery(slosQuery(flowId));
  const [adding, setAdding] = useState(false);
  useTitle(t("slos"));
  const add = may("alerts.manage", flow?.space_id) && (
    <Button kind="primary" icon={<Plus />} onClick={() => setAdding(true)}>
      {t("add")}
    </Button>
  );
  const link = "font-medium text-accent text-sm hover:underline";
  return (
    <Page
      title={t("slos")}
      about={flow ? t("about_flow", { name: flow.name }) : t("about")}
      actions={
        <>
          <Link to="/alerts" search={flowId ? { flow: flowId } : {}} className={link}>
            {t("alert_rules")}
          </Link>
          {flowId && (
            <Link to="/service-levels" search={{}} className={link}>
              {t("all")}
            </Link>
          )}
          {(slos.data?.length ?? 0) > 0 && add}
        </>
      }
    >
      <Listing
        label={t("slos")}
        query={slos}
        empty={
          <div className="rounded-lg border border-line border-dashed">
            <EmptyState icon={<Gauge />} title={t("none")} action={add}>
              {t("none_more")}
            </EmptyState>
          </div>
        }
      >
        {(slo) => <SloItem key={slo.id} slo={slo} ofFlow={flowId !== undefined} />}
      </Listing>
      {adding && <SloDialog flowId={flowId} onClose={() => setAdding(false)} />}
    </Page>
  );
}
