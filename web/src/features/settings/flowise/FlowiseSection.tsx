import { useQuery } from "@tanstack/react-query";
import { Plus, Server, Trash2 } from "lucide-react";
import { useState } from "react";
import {
  codevKeys,
  type FlowiseServer,
  flowiseKeys,
  flowiseQuery,
  removeFlowise,
  testFlowise,
} from "@/api/queries/codev";
import { variableKeys } from "@/api/queries/variables";
import { useRights } from "@/api/rights";
import { Button, Callout, Chip, Confirm, EmptyState, IconButton, Listing, Problem, Row } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { duration } from "@/lib/i18n/format";
import { AdminsOnly } from "../AdminsOnly";
import { Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { FlowiseDialog } from "./FlowiseDialog";

/** Flowise servers that the development agent may work on. */
export function FlowiseSection() {
  const t = useSettingsTexts();
  const { may } = useRights();
  const servers = useQuery(flowiseQuery);
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<FlowiseServer | null>(null);
  const remove = useChange({
    change: removeFlowise,
    touches: [flowiseKeys.all, codevKeys.domains, variableKeys.all],
    failed: t("delete_failed"),
  });
  const manage = may("variables.manage");
  const add = manage && (
    <Button kind="primary" icon={<Plus />} onClick={() => setAdding(true)}>
      {t("add_server")}
    </Button>
  );
  return (
    <Section title={t("flowise")} about={t("flowise_about")} action={add}>
      <AdminsOnly />
      <Listing
        label={t("flowise")}
        query={servers}
        empty={
          <EmptyState icon={<Server />} title={t("no_flowise")} action={add}>
            {manage && t("no_flowise_more")}
          </EmptyState>
        }
      >
        {(one) => <ServerRow key={one.id} server={one} manage={manage} onRemove={() => setRemoving(one)} />}
      </Listing>
      {adding && <FlowiseDialog onClose={() => setAdding(false)} />}
      <Confirm
        open={removing !== null}
        onOpenChange={(open) => !open && setRemoving(null)}
        title={t("delete_what", { what: removing?.id ?? "" })}
        action={t("delete")}
        busy={remove.isPending}
        onConfirm={() => removing && remove.mutate(removing.id, { onSettled: () => setRemoving(null) })}
      >
        {t("delete_flowise_more")}
      </Confirm>
    </Section>
  );
}

interface ServerRowProps {
  server: FlowiseServer;
  manage: boolean;
  onRemove: () => void;
}

function ServerRow({ server, manage, onRemove }: ServerRowProps) {
  const t = useSettingsTexts();
  const test = useChange({ change: () => testFlowise(server.id), touches: [] });
  const own = server.source === "tenant";
  return (
    <Row
      icon={<Server />}
      title={
        <>
          {server.id}
          {!own && <Chip>{t("of_the_operator")}</Chip>}
        </>
      }
      detail={
        <>
          <span className="font-mono text-xs">{server.endpoint}</span>
          <span> · {t(server.has_key ? "flowise_has_key" : "flowise_no_key")}</span>
        </>
      }
      aside={
        manage && (
          <>
            <Button size="sm" busy={test.isPending} onClick={() => test.mutate()}>
              {t("test")}
            </Button>
            {own && (
              <IconButton size="sm" label={t("delete_what", { what: server.id })} onClick={onRemove}>
                <Trash2 />
              </IconButton>
            )}
          </>
        )
      }
    >
      <div className="[&:not(:empty)]:mt-2">
        {test.data && (
          <Callout tone="ok">
            {t("flowise_answers", {
              version: test.data.version || "?",
              count: test.data.nodes,
              time: duration(test.data.ms),
            })}
          </Callout>
        )}
        {test.isError && <Problem error={test.error} />}
      </div>
    </Row>
  );
}
