import { useQuery } from "@tanstack/react-query";
import { Lock, Plus, Settings2, Trash2, Variable } from "lucide-react";
import { useState } from "react";
import { providersQuery } from "@/api/queries/providers";
import { deleteVariable, variableKeys, variablesQuery } from "@/api/queries/variables";
import { useRights } from "@/api/rights";
import { Button, Confirm, EmptyState, IconButton } from "@/components/ui";
import { ago } from "@/lib/i18n/format";
import { AdminsOnly } from "../AdminsOnly";
import { Listing } from "../Listing";
import { Row, Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { useChange } from "../useChange";
import { VariableDialog } from "./VariableDialog";

/** Names of keys and settings. A value is written and never shown. */
export function VariablesSection() {
  const t = useSettingsTexts();
  const { may } = useRights();
  const variables = useQuery(variablesQuery);
  const providers = useQuery(providersQuery).data ?? [];
  const [editing, setEditing] = useState<{ name: string } | null>(null);
  const [deleting, setDeleting] = useState<string | null>(null);
  const remove = useChange({
    change: deleteVariable,
    touches: [variableKeys.all, ["providers"]],
    failed: t("delete_failed"),
  });
  const manage = may("variables.manage");
  const owner = (name: string) => providers.find((one) => one.variables.includes(name))?.label;
  const add = manage && (
    <Button kind="primary" icon={<Plus />} onClick={() => setEditing({ name: "" })}>
      {t("add_variable")}
    </Button>
  );
  return (
    <Section title={t("variables")} about={t("variables_about")} action={add}>
      <AdminsOnly />
      <Listing
        label={t("variables")}
        query={variables}
        empty={
          <EmptyState
            icon={<Variable />}
            title={t("no_variables")}
            action={add}
            children={manage && t("no_variables_more")}
          />
        }
      >
        {(one) => (
          <Row
            key={one.name}
            icon={one.secret ? <Lock /> : <Settings2 />}
            title={<span className="font-mono text-sm">{one.name}</span>}
            detail={[
              t(one.secret ? "secret" : "plain_setting"),
              owner(one.name) ? t("used_by", { who: owner(one.name) ?? "" }) : "",
              one.hosts?.length ? t("only_to", { hosts: one.hosts.join(", ") }) : "",
              t("changed", { when: ago(one.updated_at) }),
            ]
              .filter(Boolean)
              .join(" · ")}
            aside={
              manage && (
                <>
                  <Button size="sm" onClick={() => setEditing({ name: one.name })}>
                    {t("replace")}
                  </Button>
                  <IconButton
                    size="sm"
                    label={t("delete_what", { what: one.name })}
                    onClick={() => setDeleting(one.name)}
                  >
                    <Trash2 />
                  </IconButton>
                </>
              )
            }
          />
        )}
      </Listing>
      {editing && <VariableDialog name={editing.name} onClose={() => setEditing(null)} />}
      <Confirm
        open={deleting !== null}
        onOpenChange={(open) => !open && setDeleting(null)}
        title={t("delete_what", { what: deleting ?? "" })}
        action={t("delete")}
        busy={remove.isPending}
        onConfirm={() => deleting && remove.mutate(deleting, { onSettled: () => setDeleting(null) })}
      >
        {t("delete_variable_more")}
      </Confirm>
    </Section>
  );
}
