import { useQuery } from "@tanstack/react-query";
import { Plug, Plus } from "lucide-react";
import { useState } from "react";
import { mcpServerKeys, mcpServersQuery } from "@/api/queries/mcpServers";
import { useRights } from "@/api/rights";
import { Button, Confirm, EmptyState, Listing } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { Section } from "../Section";
import { SpaceSelect, useSpace } from "../SpaceSelect";
import { useSettingsTexts } from "../texts";
import { type McpServer, removeServer } from "./calls";
import { McpServerDialog } from "./McpServerDialog";
import { McpServerRow } from "./McpServerRow";

/** Servers whose tools flows of a space may use. */
export function McpSection() {
  const t = useSettingsTexts();
  const { may } = useRights();
  const chosen = useSpace();
  const spaceId = chosen.space?.id ?? "";
  const servers = useQuery({ ...mcpServersQuery(spaceId), enabled: spaceId !== "" });
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<McpServer | null>(null);
  const remove = useChange({ change: removeServer, touches: [mcpServerKeys.lists], failed: t("delete_failed") });
  const manage = may("mcp_servers.manage", spaceId);
  const add = manage && (
    <Button kind="primary" icon={<Plus />} onClick={() => setAdding(true)}>
      {t("add_server")}
    </Button>
  );
  return (
    <Section
      title={t("mcp")}
      about={t("mcp_about")}
      action={
        <div className="flex flex-wrap gap-2">
          <SpaceSelect {...chosen} />
          {add}
        </div>
      }
    >
      <Listing
        label={t("mcp")}
        query={servers}
        empty={
          <EmptyState icon={<Plug />} title={t("no_servers")} action={add}>
            {t("no_servers_more")}
          </EmptyState>
        }
      >
        {(one) => <McpServerRow key={one.id} server={one} manage={manage} onRemove={() => setRemoving(one)} />}
      </Listing>
      {adding && <McpServerDialog spaceId={spaceId} onClose={() => setAdding(false)} />}
      <Confirm
        open={removing !== null}
        onOpenChange={(open) => !open && setRemoving(null)}
        title={t("delete_what", { what: removing?.name ?? "" })}
        action={t("delete")}
        busy={remove.isPending}
        onConfirm={() => removing && remove.mutate(removing.id, { onSettled: () => setRemoving(null) })}
      >
        {t("delete_server_more")}
      </Confirm>
    </Section>
  );
}
