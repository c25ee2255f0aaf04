import { useState } from "react";
import { type KnowledgeBase, knowledgeKeys } from "@/api/queries/knowledge";
import { addSource, changeSource, type KnowledgeSource, sourceKeys } from "@/api/queries/knowledgeSources";
import { FormDialog } from "@/components/FormDialog";
import { Field, Input, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { linesOf, metadataOf } from "../metadata/lines";
import { MetadataInput } from "../metadata/MetadataInput";
import { ROLES, type RoleChoice, roleOf } from "../roles";
import { useKnowledgeTexts } from "../texts";
import { configOf, draftOf, EMPTY, KINDS, type SourceKind } from "./draft";
import { SourceFields } from "./SourceFields";
import { useSourceTexts } from "./texts";

export const SECONDS = { none: null, hour: 3600, day: 86_400, week: 604_800 } as const;
type Every = keyof typeof SECONDS;

/** The schedule of a number of seconds; undefined: another one, which stays as it is. */
export const everyOf = (seconds: number | null) =>
  (Object.keys(SECONDS) as Every[]).find((name) => SECONDS[name] === seconds);

interface SourceDialogProps {
  base: KnowledgeBase;
  /** The source to change; without it one is added. */
  source?: KnowledgeSource;
  onClose: () => void;
}

/** Adds or changes a source, which is then synchronised. */
export function SourceDialog({ base, source, onClose }: SourceDialogProps) {
  const t = useSourceTexts();
  const roles = useKnowledgeTexts();
  const [kind, setKind] = useState<SourceKind>(source?.config.kind ?? "web");
  const [name, setName] = useState(source?.name ?? "");
  const [draft, setDraft] = useState(source ? draftOf(source.config) : EMPTY);
  const [every, setEvery] = useState<Every | "custom">(source ? (everyOf(source.every_seconds) ?? "custom") : "day");
  const [role, setRole] = useState<RoleChoice>(source ? (source.readers.role ?? "listed") : "viewer");
  const [lines, setLines] = useState(linesOf(source?.metadata ?? {}));
  const metadata = metadataOf(lines);
  const config = configOf(kind, draft);
  const save = useChange<void, KnowledgeSource>({
    change: () => {
      if (!config || !metadata) throw new Error("the form is not complete");
      const every_seconds = every === "custom" ? (source?.every_seconds ?? null) : SECONDS[every];
      const { users = [], groups = [] } = source?.readers ?? {};
      const values = { config, every_seconds, readers: { role: roleOf(role), users, groups } };
      const changed = lines !== linesOf(source?.metadata ?? {});
      if (source) return changeSource(source, changed ? { ...values, metadata } : values);
      return addSource(base.id, { ...values, name: name.trim(), classification: 0, metadata });
    },
    touches: [sourceKeys.of(base.id), knowledgeKeys.documents(base.id), knowledgeKeys.bases],
  });
  return (
    <FormDialog
      title={source ? t("change", { name: source.name }) : t("add")}
      description={source ? t("change_more") : t("add_more")}
      action={source ? t("save") : t("add")}
      ready={config !== null && metadata !== null && name.trim() !== ""}
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      {!source && (
        <>
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
        </>
      )}
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
            options={[...(Object.keys(SECONDS) as Every[]), ...(every === "custom" ? ["custom" as const] : [])].map(
              (value) => ({ value, label: t(`every_${value}`) }),
            )}
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
      <MetadataInput value={lines} onChange={setLines} />
    </FormDialog>
  );
}
