import { useQuery } from "@tanstack/react-query";
import { Lock, Plus, Settings2, Trash2, Variable as VariableIcon } from "lucide-react";
import { useState } from "react";
import { providersQuery } from "@/api/queries/providers";
import { deleteVariable, variableKeys, variablesQuery, variableUsesQuery } from "@/api/queries/variables";
import { useRights } from "@/api/rights";
import type { Variable } from "@/api/types";
import { Button, Callout, Chip, Confirm, EmptyState, IconButton, Listing, Row, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { ago } from "@/lib/i18n/format";
import { Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { type Owner, ownerOf, useOwners } from "./owners";
import { VariableDialog } from "./VariableDialog";

const ALL = "all";
/** Names of flows that are shown with a variable. */
const MOST_FLOWS = 3;

/** Names of keys and settings, and whose flows may use them. A value is written and never shown. */
export function VariablesSection() {
  const t = useSettingsTexts();
  const { me } = useRights();
  const owners = useOwners();
  const [shown, show] = useState(ALL);
  const variables = useQuery({
    ...variablesQuery,
    select: (all) => all.filter((one) => shown === ALL || ownerOf(one) === shown),
  });
  const [editing, setEditing] = useState<{ name: string; owner: string } | null>(null);
  const [deleting, setDeleting] = useState<Variable | null>(null);
  const remove = useChange({
    change: deleteVariable,
    touches: [variableKeys.all, ["providers"]],
    failed: t("delete_failed"),
  });
  const managed = owners.filter(({ manage }) => manage);
  const first = managed.find(({ id }) => id === shown) ?? managed[0];
  const add = first && (
    <Button kind="primary" icon={<Plus />} onClick={() => setEditing({ name: "", owner: first.id })}>
      {t("add_variable")}
    </Button>
  );
  return (
    <Section
      title={t("variables")}
      about={t("variables_about")}
      action={
        <div className="flex flex-wrap gap-2">
          <Select
            aria-label={t("variable_filter")}
            className="w-48"
            value={shown}
            options={[
              { value: ALL, label: t("variables_all") },
              ...owners.map((one) => ({ value: one.id, label: one.label })),
            ]}
            onChange={show}
          />
          {add}
        </div>
      }
    >
      {me && managed.length === 0 && <Callout>{t("owners_only")}</Callout>}
      <Listing
        label={t("variables")}
        query={variables}
        empty={
          <EmptyState
            icon={<VariableIcon />}
            title={t("no_variables")}
            action={add}
            children={managed.length > 0 && t("no_variables_more")}
          />
        }
      >
        {(one) => (
          <VariableRow
            key={`${one.space_id} ${one.name}`}
            variable={one}
            owners={owners}
            onReplace={() => setEditing({ name: one.name, owner: ownerOf(one) })}
            onDelete={() => setDeleting(one)}
          />
        )}
      </Listing>
      {editing && (
        <VariableDialog {...editing} owners={editing.name ? owners : managed} onClose={() => setEditing(null)} />
      )}
      <Confirm
        open={deleting !== null}
        onOpenChange={(open) => !open && setDeleting(null)}
        title={t("delete_what", { what: deleting?.name ?? "" })}
        action={t("delete")}
        busy={remove.isPending}
        onConfirm={() => deleting && remove.mutate(deleting, { onSettled: () => setDeleting(null) })}
      >
        {t("delete_variable_more")}
      </Confirm>
    </Section>
  );
}

interface VariableRowProps {
  variable: Variable;
  owners: readonly Owner[];
  onReplace: () => void;
  onDelete: () => void;
}

function VariableRow({ variable, owners, onReplace, onDelete }: VariableRowProps) {
  const t = useSettingsTexts();
  const providers = useQuery(providersQuery).data ?? [];
  const provider = providers.find((one) => one.variables.includes(variable.name))?.label;
  const owner = owners.find(({ id }) => id === ownerOf(variable));
  const replaced = owners.filter(({ id }) => variable.replaced_in?.includes(id)).map(({ label }) => label);
  const uses = (useQuery(variableUsesQuery).data ?? []).filter(
    (one) =>
      one.name === variable.name &&
      (variable.space_id === null
        ? one.source === "organisation"
        : one.source === "space" && one.space_id === variable.space_id),
  );
  const last = uses[0];
  const details = [
    t(variable.secret ? "secret" : "plain_setting"),
    provider ? t("used_by", { who: provider }) : "",
    variable.hosts?.length ? t("only_to", { hosts: variable.hosts.join(", ") }) : "",
    replaced.length ? t("replaced_in", { spaces: replaced.join(", ") }) : "",
    t("changed", { when: ago(variable.updated_at) }),
  ];
  return (
    <Row
      icon={variable.secret ? <Lock /> : <Settings2 />}
      title={
        <>
          <span className="font-mono text-sm">{variable.name}</span>
          {owner && <Chip tone={variable.space_id === null ? "accent" : "neutral"}>{owner.label}</Chip>}
        </>
      }
      detail={
        <>
          {details.filter(Boolean).join(" · ")}
          {variable.secret && (
            <span className="block">
              {last
                ? t(uses.length > MOST_FLOWS ? "last_read_more" : "last_read", {
                    when: ago(last.last_read_at),
                    flows: uses
                      .slice(0, MOST_FLOWS)
                      .map(({ flow }) => flow)
                      .join(", "),
                    count: uses.length - MOST_FLOWS,
                  })
                : t("never_read")}
            </span>
          )}
        </>
      }
      aside={
        owner?.manage && (
          <>
            <Button size="sm" onClick={onReplace}>
              {t("replace")}
            </Button>
            <IconButton size="sm" label={t("delete_what", { what: variable.name })} onClick={onDelete}>
              <Trash2 />
            </IconButton>
          </>
        )
      }
    />
  );
}
