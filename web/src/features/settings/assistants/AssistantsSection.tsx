import { useQuery } from "@tanstack/react-query";
import { Bot, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { api, unwrap } from "@/api/client";
import { assistantKeys, assistantsQuery, type SharedAssistant } from "@/api/queries/assistants";
import { useRights } from "@/api/rights";
import { Button, Confirm, EmptyState, IconButton, Listing, Row } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { Section } from "../Section";
import { SpaceSelect, useSpace } from "../SpaceSelect";
import { useSettingsTexts } from "../texts";
import { AssistantDialog } from "./AssistantDialog";

const remove = (assistant_id: string) =>
  unwrap(api.DELETE("/api/v1/assistants/{assistant_id}", { params: { path: { assistant_id } } }));

/** Instructions and a model under a name, which steps of a space's flows may link. */
export function AssistantsSection() {
  const t = useSettingsTexts();
  const { may } = useRights();
  const chosen = useSpace();
  const spaceId = chosen.space?.id ?? "";
  const assistants = useQuery({ ...assistantsQuery(spaceId), enabled: spaceId !== "" });
  const [editing, setEditing] = useState<SharedAssistant | "new" | null>(null);
  const [deleting, setDeleting] = useState<SharedAssistant | null>(null);
  const deletion = useChange({ change: remove, touches: [assistantKeys.all], failed: t("delete_failed") });
  const edit = may("assistants.edit", spaceId);
  const add = edit && (
    <Button kind="primary" icon={<Plus />} onClick={() => setEditing("new")}>
      {t("add_assistant")}
    </Button>
  );
  return (
    <Section
      title={t("assistants")}
      about={t("assistants_about")}
      action={
        <div className="flex flex-wrap gap-2">
          <SpaceSelect {...chosen} />
          {add}
        </div>
      }
    >
      <Listing
        label={t("assistants")}
        query={assistants}
        empty={
          <EmptyState icon={<Bot />} title={t("no_assistants")} action={add}>
            {t("no_assistants_more")}
          </EmptyState>
        }
      >
        {(one) => (
          <Row
            key={one.id}
            icon={<Bot />}
            title={one.name}
            detail={[one.description, one.model || t("steps_own_model")].filter(Boolean).join(" · ")}
            aside={
              edit && (
                <>
                  <Button size="sm" onClick={() => setEditing(one)}>
                    {t("edit")}
                  </Button>
                  <IconButton size="sm" label={t("delete_what", { what: one.name })} onClick={() => setDeleting(one)}>
                    <Trash2 />
                  </IconButton>
                </>
              )
            }
          />
        )}
      </Listing>
      {editing && (
        <AssistantDialog
          spaceId={spaceId}
          {...(editing === "new" ? {} : { assistant: editing })}
          onClose={() => setEditing(null)}
        />
      )}
      <Confirm
        open={deleting !== null}
        onOpenChange={(open) => !open && setDeleting(null)}
        title={t("delete_what", { what: deleting?.name ?? "" })}
        action={t("delete")}
        busy={deletion.isPending}
        onConfirm={() => deleting && deletion.mutate(deleting.id, { onSettled: () => setDeleting(null) })}
      >
        {t("delete_assistant_more")}
      </Confirm>
    </Section>
  );
}
