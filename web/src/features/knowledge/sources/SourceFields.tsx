import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { connectionsQuery } from "@/api/queries/connections";
import { BrowseStorage } from "@/components/storage";
import { Field, Input, Select, Textarea } from "@/components/ui";
import { CONNECTIONS, FOLLOWS, type SourceDraft, type SourceKind } from "./draft";
import { useSourceTexts } from "./texts";

interface Props {
  kind: SourceKind;
  spaceId: string;
  draft: SourceDraft;
  set: (changes: Partial<SourceDraft>) => void;
}

/** The settings of a kind of source. */
export function SourceFields(props: Props) {
  if (props.kind === "web") return <WebFields {...props} />;
  return (
    <>
      <ConnectionField {...props} />
      {props.kind === "storage" && (
        <>
          <FolderField {...props} />
          <TextField {...props} name="pattern" label="pattern" />
        </>
      )}
      {props.kind === "git" && (
        <>
          <TextField {...props} name="repository" label="repository" help="repository_help" />
          <TextField {...props} name="ref" label="ref" help="ref_help" />
          <TextField {...props} name="pattern" label="pattern" />
        </>
      )}
      {props.kind === "sql" && <SqlFields {...props} />}
      {props.kind === "mail" && (
        <>
          <TextField {...props} name="mailFolder" label="mail_folder" />
          <TextField {...props} name="sender" label="sender" />
          <TextField {...props} name="subject" label="subject" />
          <TextField {...props} name="mostMessages" label="most_messages" numeric />
        </>
      )}
    </>
  );
}

interface TextProps extends Props {
  name: Exclude<keyof SourceDraft, "follow">;
  label: Parameters<ReturnType<typeof useSourceTexts>>[0];
  help?: Parameters<ReturnType<typeof useSourceTexts>>[0];
  required?: boolean;
  numeric?: boolean;
}

function TextField({ draft, set, name, label, help, required = false, numeric = false }: TextProps) {
  const t = useSourceTexts();
  return (
    <Field label={t(label)} help={help && t(help)} required={required}>
      {(control) => (
        <Input
          {...control}
          inputMode={numeric ? "numeric" : "text"}
          value={draft[name]}
          onChange={(event) => set({ [name]: event.target.value })}
        />
      )}
    </Field>
  );
}

function FolderField({ spaceId, draft, set }: Props) {
  const t = useSourceTexts();
  return (
    <Field label={t("folder")}>
      {(control) => (
        <div className="flex gap-1.5">
          <Input {...control} value={draft.folder} onChange={(event) => set({ folder: event.target.value })} />
          <BrowseStorage
            spaceId={spaceId}
            connection={draft.connection}
            wanted="folder"
            value={draft.folder}
            onChoose={(folder) => set({ folder })}
          />
        </div>
      )}
    </Field>
  );
}

function WebFields(props: Props) {
  const t = useSourceTexts();
  const { draft, set } = props;
  return (
    <>
      <TextField {...props} name="url" label="url" required />
      <Field label={t("follow")}>
        {(control) => (
          <Select
            {...control}
            value={draft.follow}
            options={FOLLOWS.map((value) => ({ value, label: t(`follow_${value}`) }))}
            onChange={(follow) => set({ follow })}
          />
        )}
      </Field>
      {draft.follow === "links" && <TextField {...props} name="depth" label="depth" numeric />}
      {draft.follow !== "page" && <TextField {...props} name="mostPages" label="most_pages" numeric />}
      <TextField {...props} name="hosts" label="hosts" help="hosts_help" />
    </>
  );
}

function SqlFields(props: Props) {
  const t = useSourceTexts();
  const { draft, set } = props;
  return (
    <>
      <Field label={t("sql")} help={t("sql_help")} required>
        {(control) => (
          <Textarea
            {...control}
            className="font-mono"
            value={draft.sql}
            onChange={(event) => set({ sql: event.target.value })}
          />
        )}
      </Field>
      <TextField {...props} name="keyColumn" label="key_column" required />
    </>
  );
}

function ConnectionField({ kind, spaceId, draft, set }: Props) {
  const t = useSourceTexts();
  const { data = [] } = useQuery(connectionsQuery(spaceId));
  const names = [...new Set(data.filter((one) => CONNECTIONS[kind]?.includes(one.kind)).map((one) => one.name))];
  return (
    <Field label={t("connection")} required help={names.length === 0 && <NoConnection />}>
      {(control) => (
        <Select
          {...control}
          value={draft.connection || undefined}
          options={names.map((name) => ({ value: name, label: name }))}
          onChange={(connection) => set({ connection })}
        />
      )}
    </Field>
  );
}

/** The way to add one, in another tab: what is written in the dialog stays. */
function NoConnection() {
  const t = useSourceTexts();
  return (
    <>
      {t("no_connection")}{" "}
      <Link
        to="/settings/{-$section}"
        params={{ section: "connections" }}
        target="_blank"
        className="font-medium text-accent hover:underline"
      >
        {t("add_connection")}
      </Link>
    </>
  );
}
