import { useState } from "react";
import { type KnowledgeBase, knowledgeKeys, type ReaderRole } from "@/api/queries/knowledge";
import { addSource, type KnowledgeSource, sourceKeys } from "@/api/queries/knowledgeSources";
import { FormDialog } from "@/components/FormDialog";
import { Field, Input, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useKnowledgeTexts } from "../texts";
import { configOf, EMPTY, KINDS, type SourceKind } from "./draft";
import { SourceFields } from "./SourceFields";
import { useSourceTexts } from "./texts";

const ROLES: readonly ReaderRole[] = ["visitor", "viewer", "runner", "editor", "publisher", "owner"];
export const SECONDS = { none: null, hour: 3600, day: 86_400, week: 604_800 } as const;
type Every = keyof typeof SECONDS;

/** Adds a source, which is synchronised at once. */
export function AddSourceDialog({ base, onClose }: { base: KnowledgeBase; onClose: () => void }) {
  const t = useSourceTexts();
  const roles = useKnowledgeTexts();
  const [kind, setKind] = useState<SourceKind>("web");
  const [name, setName] = useState("");
  const [draft, setDraft] = useState(EMPTY);
  const [every, setEvery] = useState<Every>("day");
  const [role, setRole] = useState<ReaderRole>("viewer");
  const config = configOf(kind, draft);
  const add = useChange<void, KnowledgeSource>({
    change: () => {
      if (!config) throw new Error("the form is not complete");
      const readers = { role, users: [], groups: [] };
      return addSource(base.id, {
        name: name.trim(),
        config,
        every_seconds: SECONDS[every],
        readers,
        classification: 0,
      });
    },
    touches: [sourceKeys.of(base.id), knowledgeKeys.documents(base.id), knowledgeKeys.bases],
  });
  return (
    <FormDialog
      title={t("add")}
      description={t("add_more")}
      action={t("add")}
      ready={config !== null && name.trim() !== ""}
      busy={add.isPending}
      error={add.error}
      onSubmit={() => add.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Field label={t("kind")}>
        {(control) => (
          <Select
            {...control}
            value={kind}
            options={KINDS.map((value) => ({ value, label: t(`kind_${value}`) }))}
            onChange={(next) => {
              setKind(next);
              setDraft({ ...draft, connection: "" });
            }}
          />
        )}
      </Field>
      <Field label={t("name")} help={t("name_help")} required>
        {(control) => <Input {...control} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <SourceFields
        kind={kind}
        spaceId={base.space_id}
        draft={draft}
        set={(changes) => setDraft((now) => ({ ...now, ...changes }))}
      />
      <Field label={t("schedule")}>
        {(control) => (
          <Select
            {...control}
            value={every}
            options={(Object.keys(SECONDS) as Every[]).map((value) => ({ value, label: t(`every_${value}`) }))}
            onChange={setEvery}
          />
        )}
      </Field>
      <Field label={t("readers")}>
        {(control) => (
          <Select
            {...control}
            value={role}
            options={ROLES.map((value) => ({ value, label: roles(`role_${value}`) }))}
            onChange={setRole}
          />
        )}
      </Field>
    </FormDialog>
  );
}
