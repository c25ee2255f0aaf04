import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { connectionsQuery } from "@/api/queries/connections";
import { BrowseStorage } from "@/components/storage";
import { Field, Input, Select, Switch, Textarea } from "@/components/ui";
import { useTriggerTexts } from "../texts";
import { FORMS, type PollDraft, type PollField, type PollKind } from "./polls";

interface Props {
  kind: PollKind;
  spaceId: string;
  draft: PollDraft;
  onChange: (draft: PollDraft) => void;
}

const NONE = " ";
const SWITCHES: Partial<Record<PollKind, readonly ("markSeen" | "idle" | "watch")[]>> = {
  mail: ["markSeen", "idle"],
  folder: ["watch"],
};

/** What a trigger polls, how often, and what it starts at first. */
export function PollFields({ kind, spaceId, draft, onChange }: Props) {
  const t = useTriggerTexts();
  const { required, optional } = FORMS[kind];
  const set = (changes: Partial<PollDraft>) => onChange({ ...draft, ...changes });
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {[...required, ...optional].map((field) => (
        <SourceField
          key={field}
          field={field}
          required={required.includes(field)}
          kind={kind}
          spaceId={spaceId}
          draft={draft}
          set={set}
        />
      ))}
      <Field label={t("poll_minutes")}>
        {(control) => (
          <Input
            {...control}
            inputMode="numeric"
            value={draft.minutes}
            onChange={(event) => set({ minutes: event.target.value })}
          />
        )}
      </Field>
      {kind !== "queue" && (
        <Field label={t("poll_first")}>
          {(control) => (
            <Select
              {...control}
              value={draft.first}
              options={(["now", "all"] as const).map((value) => ({ value, label: t(`poll_first_${value}`) }))}
              onChange={(first) => set({ first })}
            />
          )}
        </Field>
      )}
      {kind === "rows" && (
        <Field label={t("poll_look_back")} help={t("poll_look_back_help")}>
          {(control) => (
            <Input
              {...control}
              inputMode="numeric"
              value={draft.lookBack}
              onChange={(event) => set({ lookBack: event.target.value })}
            />
          )}
        </Field>
      )}
      {kind === "topic" && (
        <Field label={t("poll_missing")}>
          {(control) => (
            <Select
              {...control}
              value={draft.missing}
              options={(["earliest", "latest"] as const).map((value) => ({ value, label: t(`poll_missing_${value}`) }))}
              onChange={(missing) => set({ missing })}
            />
          )}
        </Field>
      )}
      {(SWITCHES[kind] ?? []).map((name) => (
        <div key={name} className="flex items-center gap-2 self-end pb-2 text-sm">
          <Switch aria-label={t(`poll_${name}`)} checked={draft[name]} onChange={() => set({ [name]: !draft[name] })} />
          <span>{t(`poll_${name}`)}</span>
        </div>
      ))}
    </div>
  );
}

interface FieldProps {
  field: PollField;
  required: boolean;
  kind: PollKind;
  spaceId: string;
  draft: PollDraft;
  set: (changes: Partial<PollDraft>) => void;
}

function SourceField({ field, required, kind, spaceId, draft, set }: FieldProps) {
  const t = useTriggerTexts();
  const value = draft.values[field] ?? "";
  const change = (text: string) => set({ values: { ...draft.values, [field]: text } });
  const label = t(field === "folder" && kind === "mail" ? "poll_mail_folder" : `poll_${field}`);
  if (field === "connection")
    return (
      <ConnectionField
        label={label}
        required={required}
        kind={kind}
        spaceId={spaceId}
        value={value}
        onChange={change}
      />
    );
  if (field === "sql")
    return (
      <div className="sm:col-span-2">
        <Field label={label} help={t("poll_sql_help")} required>
          {(control) => (
            <Textarea
              {...control}
              className="font-mono"
              value={value}
              onChange={(event) => change(event.target.value)}
            />
          )}
        </Field>
      </div>
    );
  return (
    <Field label={label} required={required}>
      {(control) => (
        <div className="flex gap-1.5">
          <Input {...control} value={value} onChange={(event) => change(event.target.value)} />
          {field === "folder" && kind === "folder" && (
            <BrowseStorage
              spaceId={spaceId}
              connection={draft.values.connection ?? ""}
              wanted="folder"
              value={value}
              onChoose={change}
            />
          )}
        </div>
      )}
    </Field>
  );
}

/** The way to add one, in another tab: what is written in the dialog stays. */
function NoConnection() {
  const t = useTriggerTexts();
  return (
    <>
      {t("poll_no_connection")}{" "}
      <Link
        to="/settings/{-$section}"
        params={{ section: "connections" }}
        target="_blank"
        className="font-medium text-accent hover:underline"
      >
        {t("poll_add_connection")}
      </Link>
    </>
  );
}

interface ConnectionProps {
  label: string;
  required: boolean;
  kind: PollKind;
  spaceId: string;
  value: string;
  onChange: (name: string) => void;
}

function ConnectionField({ label, required, kind, spaceId, value, onChange }: ConnectionProps) {
  const t = useTriggerTexts();
  const { data = [] } = useQuery(connectionsQuery(spaceId));
  const names = [...new Set(data.filter((one) => FORMS[kind].connections?.includes(one.kind)).map((one) => one.name))];
  return (
    <Field label={label} required={required} help={names.length === 0 && <NoConnection />}>
      {(control) => (
        <Select
          {...control}
          value={value || (required ? undefined : NONE)}
          options={[
            ...(required ? [] : [{ value: NONE, label: t(kind === "folder" ? "poll_workspace" : "poll_none") }]),
            ...names.map((name) => ({ value: name, label: name })),
          ]}
          onChange={(name) => onChange(name === NONE ? "" : name)}
        />
      )}
    </Field>
  );
}
