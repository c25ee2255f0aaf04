import { useQuery } from "@tanstack/react-query";
import { Cable, Plus } from "lucide-react";
import { useState } from "react";
import {
  type Connection,
  connectionKeys,
  connectionKindsQuery,
  connectionsQuery,
  deleteConnection,
} from "@/api/queries/connections";
import { useRights } from "@/api/rights";
import { ConnectionDialog } from "@/components/connections";
import { Button, Callout, Confirm, EmptyState, Input, Listing, Problem } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { Section } from "../Section";
import { SpaceSelect, useSpace } from "../SpaceSelect";
import { useSettingsTexts } from "../texts";
import { ConnectionRow } from "./ConnectionRow";
import { useProviderAnswer } from "./useProviderAnswer";

/** The outcome of a sign-in at a provider, which sends the browser here. */
function ProviderAnswer() {
  const t = useSettingsTexts();
  const { finish, tools } = useProviderAnswer();
  return (
    <>
      {finish.isError && <Problem error={finish.error} />}
      {finish.data && (
        <Callout tone="ok">
          {t("connection_authorized", { name: finish.data.name })}
          {tools.data?.map(({ name, count }) => (
            <p key={name}>{t("connection_tools", { name, count })}</p>
          ))}
        </Callout>
      )}
      {tools.isError && <Problem error={tools.error} />}
    </>
  );
}

/** Connections of a space and one's own: what they reach, whether they work, and which flows use them. */
export function ConnectionsSection() {
  const t = useSettingsTexts();
  const { may } = useRights();
  const chosen = useSpace();
  const spaceId = chosen.space?.id ?? "";
  const [text, setText] = useState("");
  const kinds = useQuery(connectionKindsQuery).data ?? [];
  const labelOf = (kind: string) => kinds.find(({ id }) => id === kind)?.label ?? kind;
  const all = useQuery(connectionsQuery(spaceId));
  const wanted = text.trim().toLowerCase();
  const shown = (all.data ?? []).filter((one) =>
    `${one.name} ${labelOf(one.kind)} ${one.hosts.join(" ")}`.toLowerCase().includes(wanted),
  );
  const [editing, edit] = useState<Connection | "new" | null>(null);
  const [removing, setRemoving] = useState<Connection | null>(null);
  const remove = useChange({ change: deleteConnection, touches: [connectionKeys.all], failed: t("delete_failed") });
  const add = may("connections.own", spaceId) && (
    <Button kind="primary" icon={<Plus />} onClick={() => edit("new")}>
      {t("add_connection")}
    </Button>
  );
  return (
    <Section
      title={t("connections")}
      about={t("connections_about")}
      action={
        <div className="flex flex-wrap gap-2">
          <SpaceSelect {...chosen} />
          {add}
        </div>
      }
    >
      <ProviderAnswer />
      {(all.data?.length ?? 0) > 5 && (
        <Input
          type="search"
          aria-label={t("find_connection")}
          placeholder={t("find_connection")}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      <Listing
        label={t("connections")}
        query={{ ...all, data: all.data ? shown : undefined }}
        empty={
          wanted ? (
            <p className="py-8 text-center text-muted">{t("no_connection_found", { text })}</p>
          ) : (
            <EmptyState icon={<Cable />} title={t("no_connections")} action={add}>
              {t("no_connections_more")}
            </EmptyState>
          )
        }
      >
        {(one) => (
          <ConnectionRow
            key={one.id}
            connection={one}
            kind={kinds.find(({ id }) => id === one.kind)}
            manage={may(one.owner_id ? "connections.own" : "connections.manage", one.space_id)}
            onEdit={() => edit(one)}
            onRemove={() => setRemoving(one)}
          />
        )}
      </Listing>
      {editing && (
        <ConnectionDialog
          spaceId={spaceId}
          {...(editing === "new" ? {} : { connection: editing })}
          onClose={() => edit(null)}
        />
      )}
      <Confirm
        open={removing !== null}
        onOpenChange={(open) => !open && setRemoving(null)}
        title={t("delete_what", { what: removing?.name ?? "" })}
        action={t("delete")}
        busy={remove.isPending}
        onConfirm={() => removing && remove.mutate(removing.id, { onSettled: () => setRemoving(null) })}
      >
        {t("delete_connection_more")}
      </Confirm>
    </Section>
  );
}
