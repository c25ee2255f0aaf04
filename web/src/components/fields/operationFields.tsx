import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { operationQuery } from "@/api/queries/apis";
import { connectionsQuery } from "@/api/queries/connections";
import { OperationList } from "@/components/connections/OperationList";
import { Button, Input } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { isSchema, type Schema } from "@/lib/wiring";
import { JsonControl } from "./JsonControl";
import { ListEditor } from "./ListEditor";
import { SchemaForm, schemaMembers } from "./SchemaForm";
import { useFieldTexts } from "./texts";
import type { ControlProps } from "./types";

/** How deep references in a schema are followed for a form. */
const MOST_LEVELS = 4;

/** Id of the connection that a node names; empty without one. */
function useConnectionOf(nodeId: string | undefined): string {
  const space = useDraft((state) => state.spaceId);
  const named = useDraft((state) => (nodeId ? state.document.nodes[nodeId]?.params?.connection : undefined));
  const connections = useQuery(connectionsQuery(space));
  return connections.data?.find((one) => one.name === named)?.id ?? "";
}

/** The operation of an `ApiCall` node: chosen from the description, or written. */
export function OperationControl({ value, onChange, label, nodeId, field: _, ...ids }: ControlProps) {
  const t = useFieldTexts();
  const connection = useConnectionOf(nodeId);
  const [open, setOpen] = useState(false);
  const now = typeof value === "string" ? value : "";
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex gap-1.5">
        <Input
          {...ids}
          {...(ids.id ? {} : { "aria-label": label })}
          className="font-mono text-xs"
          value={now}
          placeholder="GET /users/{id}"
          onChange={(event) => onChange(event.target.value || undefined)}
        />
        <Button aria-expanded={open} disabled={connection === ""} onClick={() => setOpen(!open)}>
          {t("operation_choose")}
        </Button>
      </div>
      {connection === "" && <p className="text-muted text-xs">{t("operation_no_connection")}</p>}
      {open && connection && (
        <OperationList
          connection={connection}
          chosen={[now]}
          onChoose={(one) => {
            onChange(one.key);
            setOpen(false);
          }}
        />
      )}
    </div>
  );
}

/** The operations that an `ApiTools` node gives to an agent. */
export function OperationsControl({ value, onChange, label, nodeId }: ControlProps) {
  const connection = useConnectionOf(nodeId);
  const now = Array.isArray(value) ? value.map(String) : [];
  const put = (next: string[]) => onChange(next.length > 0 ? next : undefined);
  return (
    <div className="flex flex-col gap-1.5">
      <ListEditor label={label} value={now} onChange={put} />
      {connection && (
        <OperationList
          connection={connection}
          chosen={now}
          onChoose={({ key }) => put(now.includes(key) ? now.filter((one) => one !== key) : [...now, key])}
        />
      )}
    </div>
  );
}

/** The arguments of an `ApiCall` node: a form made from the description of its operation; JSON without one. */
export function ArgumentsControl(props: ControlProps) {
  const { value, onChange, label, nodeId } = props;
  const connection = useConnectionOf(nodeId);
  const operation = useDraft((state) => (nodeId ? state.document.nodes[nodeId]?.params?.operation : undefined));
  const read = useQuery(operationQuery(connection, typeof operation === "string" ? operation : ""));
  const isForm = value === undefined || value === null || isSchema(value);
  const input = read.isError ? undefined : read.data?.input;
  if (!isForm || !isSchema(input)) return <JsonControl {...props} />;
  const schema = inlined(input, isSchema(input.$defs) ? input.$defs : {}, 0);
  return (
    <SchemaForm
      label={label}
      schema={schema}
      members={schemaMembers(schema)}
      value={isSchema(value) ? value : {}}
      onChange={onChange}
      nodeId={nodeId}
    />
  );
}

/** A schema with its references followed, as far as a form needs. */
export function inlined(schema: Schema, definitions: Schema, level: number): Schema {
  const target = typeof schema.$ref === "string" ? definitions[schema.$ref.replace("#/$defs/", "")] : schema;
  if (!isSchema(target) || level > MOST_LEVELS) return {};
  const inner = (one: unknown) => (isSchema(one) ? inlined(one, definitions, level + 1) : {});
  const { $defs: _, ...rest } = target.$ref === undefined ? target : inlined(target, definitions, level + 1);
  const { properties, items } = rest;
  return {
    ...rest,
    ...(isSchema(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, inner(one)])) }
      : {}),
    ...(isSchema(items) ? { items: inner(items) } : {}),
  } as Schema;
}
