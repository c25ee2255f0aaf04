import { FileJson, List } from "lucide-react";
import { useState } from "react";
import { CodeEditor } from "@/components/code";
import { Button, IconButton, Segments } from "@/components/ui";
import type { Schema } from "@/lib/wiring";
import { isSchema } from "@/lib/wiring";
import { ExampleDialog } from "./ExampleDialog";
import { lineOfFault } from "./jsonLine";
import { MemberList, TypeSelect } from "./MemberRow";
import { type Root, toSchema, toTree } from "./schemaTree";
import { useContractTexts } from "./texts";

interface SchemaEditorProps {
  label: string;
  schema: Schema;
  onChange: (schema: Schema) => void;
}

/** A JSON Schema as fields with types; as JSON for who wants that, or where it says more than fields can. */
export function SchemaEditor({ label, schema, onChange }: SchemaEditorProps) {
  const t = useContractTexts();
  const written = JSON.stringify(schema);
  const [known, setKnown] = useState(written);
  const [root, setRoot] = useState<Root | null>(() => toTree(asObject(schema)));
  const [asJson, setAsJson] = useState(false);
  const [example, setExample] = useState(false);
  if (written !== known) {
    setKnown(written);
    setRoot(toTree(asObject(schema)));
  }
  const keep = (next: Root) => {
    const made = toSchema(next);
    setRoot(next);
    setKnown(JSON.stringify(made));
    onChange(made);
  };
  const mode = root && !asJson ? "fields" : "json";
  return (
    <fieldset aria-label={label} className="flex flex-col gap-2">
      <div className="flex items-center gap-2">
        <Segments
          aria-label={t("view")}
          size="sm"
          value={mode}
          options={[
            { value: "fields", label: t("fields"), disabled: root === null },
            { value: "json", label: t("json") },
          ]}
          onChange={(next) => setAsJson(next === "json")}
        />
        <Button size="sm" kind="ghost" icon={<FileJson />} onClick={() => setExample(true)}>
          {t("from_example")}
        </Button>
      </div>
      {root === null && <p className="text-muted text-xs">{t("only_json")}</p>}
      {root && mode === "fields" ? (
        <Tree root={root} onChange={keep} />
      ) : (
        <AsJson label={label} schema={schema} onChange={onChange} />
      )}
      <ExampleDialog open={example} onOpenChange={setExample} onSchema={onChange} />
    </fieldset>
  );
}

/** Nothing said is an object: what contracts are for. */
const asObject = (schema: Schema): Schema => (Object.keys(schema).length === 0 ? { type: "object" } : schema);

function Tree({ root, onChange }: { root: Root; onChange: (root: Root) => void }) {
  const t = useContractTexts();
  const whole = t("type_whole");
  return (
    <>
      <div className="flex items-center gap-2 text-muted text-sm">
        <span className="shrink-0">{whole}</span>
        <TypeSelect label={whole} type={root.type} onChange={(type) => onChange({ ...root, type, choices: [] })} />
        <IconButton
          size="sm"
          label={t("list_of", { name: whole })}
          on={root.list}
          onClick={() => onChange({ ...root, list: !root.list })}
        >
          <List />
        </IconButton>
      </div>
      {root.type === "object" && (
        <MemberList members={root.members} owner="" onChange={(members) => onChange({ ...root, members })} />
      )}
    </>
  );
}

function AsJson({ label, schema, onChange }: SchemaEditorProps) {
  const t = useContractTexts();
  const [text, setText] = useState(() => JSON.stringify(schema, null, 2));
  const line = lineOfFault(text);
  const fault = line !== null ? t("broken", { line }) : isSchema(JSON.parse(text)) ? null : t("not_object");
  const put = (next: string) => {
    setText(next);
    if (lineOfFault(next) !== null) return;
    const read: unknown = JSON.parse(next);
    if (isSchema(read)) onChange(read);
  };
  return (
    <>
      <CodeEditor
        language="json"
        label={label}
        value={text}
        onChange={put}
        minLines={6}
        diagnostics={fault ? [{ line: line ?? 1, message: fault }] : []}
      />
      {fault && <p className="text-warn text-xs">{fault}</p>}
    </>
  );
}
