import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { AlarmClock, Plus } from "lucide-react";
import { useState } from "react";
import { triggersQuery } from "@/api/queries/triggers";
import { useRights } from "@/api/rights";
import { Page } from "@/components/page";
import { Button, Callout, EmptyState, Listing } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { TriggerDialog } from "./add/TriggerDialog";
import { TriggerItem } from "./TriggerItem";
import { useTriggerTexts } from "./texts";

/** What starts the open flow by itself. */
export function FlowTriggersPage() {
  const t = useTriggerTexts();
  const { may } = useRights();
  const flowId = useDraft((state) => state.flowId);
  const spaceId = useDraft((state) => state.spaceId);
  const published = useDraft((state) => state.publishedVersion !== null);
  const triggers = useQuery(triggersQuery({ flow_id: flowId }));
  const [adding, setAdding] = useState(false);
  const add = may("triggers.manage", spaceId) && (
    <Button kind="primary" icon={<Plus />} onClick={() => setAdding(true)}>
      {t("add")}
    </Button>
  );
  return (
    <Page
      ofFlow
      title={t("triggers")}
      about={t("about_flow")}
      actions={
        <>
          <Link to="/alerts" search={{ flow: flowId }} className="font-medium text-accent text-sm hover:underline">
            {t("alert_rules")}
          </Link>
          <Link
            to="/service-levels"
            search={{ flow: flowId }}
            className="font-medium text-accent text-sm hover:underline"
          >
            {t("service_levels")}
          </Link>
          <Link to="/triggers" className="font-medium text-accent text-sm hover:underline">
            {t("all")}
          </Link>
          {triggers.data && triggers.data.length > 0 && add}
        </>
      }
    >
      {!published && (
        <Callout tone="warn">
          {t("not_published")}{" "}
          <Link to="/flows/$flowId/publish" params={{ flowId }} className="font-medium underline">
            {t("publish")}
          </Link>
        </Callout>
      )}
      <Listing
        label={t("triggers")}
        query={triggers}
        empty={
          <div className="rounded-lg border border-line border-dashed">
            <EmptyState icon={<AlarmClock />} title={t("none")} action={add}>
              {t("none_flow")}
            </EmptyState>
          </div>
        }
      >
        {(trigger) => <TriggerItem key={trigger.id} trigger={trigger} ofFlow />}
      </Listing>
      {adding && <TriggerDialog flowId={flowId} spaceId={spaceId} onClose={() => setAdding(false)} />}
    </Page>
  );
}
