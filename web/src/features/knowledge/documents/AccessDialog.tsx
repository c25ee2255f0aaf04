import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { directoryGroupsQuery } from "@/api/queries/directory";
import { changeDocument, type KnowledgeDocument, knowledgeKeys } from "@/api/queries/knowledge";
import { membersQuery } from "@/api/queries/people";
import { useRights } from "@/api/rights";
import { FormDialog } from "@/components/FormDialog";
import { Field, Input, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { linesOf, metadataOf } from "../metadata/lines";
import { MetadataInput } from "../metadata/MetadataInput";
import { isRetention, MOST_DAYS } from "../retentionDays";
import { ROLES, roleOf } from "../roles";
import { useKnowledgeTexts } from "../texts";

interface AccessDialogProps {
  document: KnowledgeDocument;
  spaceId: string;
  onClose: () => void;
}

/** Who may read a document, how long it is kept, and its metadata: for all its versions. */
export function AccessDialog({ document, spaceId, onClose }: AccessDialogProps) {
  const t = useKnowledgeTexts();
  const { may } = useRights();
  const [role, setRole] = useState(document.readers.role ?? ("listed" as const));
  const [users, setUsers] = useState<readonly string[]>(document.readers.users ?? []);
  const [groups, setGroups] = useState<readonly string[]>(document.readers.groups ?? []);
  const [days, setDays] = useState(document.retention_days === null ? "" : String(document.retention_days));
  const [lines, setLines] = useState(linesOf(document.metadata));
  const metadata = metadataOf(lines);
  const members = useQuery(membersQuery(spaceId));
  const directory = useQuery({ ...directoryGroupsQuery, enabled: may("directory.manage") });
  const change = useChange<void>({
    change: async () => {
      await changeDocument(document, {
        readers: { role: roleOf(role), users: [...users], groups: [...groups] },
        retention_days: days.trim() === "" ? null : Number(days),
        ...(metadata && lines !== linesOf(document.metadata) ? { metadata } : {}),
      });
    },
    touches: [knowledgeKeys.documents(document.base_id)],
  });
  return (
    <FormDialog
      title={t("access_of", { name: document.name })}
      description={t("access_more")}
      action={t("save")}
      ready={metadata !== null && (days.trim() === "" || isRetention(days))}
      busy={change.isPending}
      error={change.error}
      onSubmit={() => change.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Field label={t("lowest_role")}>
        {(control) => (
          <Select
            {...control}
            value={role}
            options={ROLES.map((value) => ({ value, label: t(`role_${value}`) }))}
            onChange={setRole}
          />
        )}
      </Field>
      <Listed
        label={t("listed_users")}
        names={(members.data ?? []).map(({ user_id, name, email }) => ({
          id: user_id,
          name: name || email || user_id,
        }))}
        chosen={users}
        onChange={setUsers}
      />
      <Listed label={t("listed_groups")} names={directory.data ?? []} chosen={groups} onChange={setGroups} />
      <Field label={t("retention_document")} help={t("retention_document_help")}>
        {(control) => (
          <Input
            {...control}
            type="number"
            min={0}
            max={MOST_DAYS}
            value={days}
            onChange={(event) => setDays(event.target.value)}
          />
        )}
      </Field>
      <MetadataInput value={lines} onChange={setLines} />
    </FormDialog>
  );
}

interface ListedProps {
  label: string;
  names: readonly { id: string; name: string }[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

/** Users or groups to choose from, with those that are chosen and not among them. */
function Listed({ label, names, chosen, onChange }: ListedProps) {
  const known = new Set(names.map(({ id }) => id));
  const all = [...names, ...chosen.filter((id) => !known.has(id)).map((id) => ({ id, name: id }))];
  if (all.length === 0) return null;
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      <div className="flex max-h-48 flex-col gap-1 overflow-y-auto rounded-md border border-line p-2">
        {all.map(({ id, name }) => (
          <label key={id} className="flex items-center gap-2 text-sm">
            <input
              type="checkbox"
              className="accent-accent"
              checked={chosen.includes(id)}
              onChange={({ target }) =>
                onChange(target.checked ? [...chosen, id] : chosen.filter((other) => other !== id))
              }
            />
            <span className="min-w-0 wrap-anywhere">{name}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
