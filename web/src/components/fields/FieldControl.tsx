import { type ComponentType, Suspense } from "react";
import { CodeEditor } from "@/components/code";
import { useDraft } from "@/lib/draft";
import { part } from "@/lib/part";
import { ConnectionControl } from "./ConnectionControl";
import { FileControl } from "./FileControl";
import { FlowControl } from "./FlowControl";
import { JsonControl } from "./JsonControl";
import {
  AssistantControl,
  FormFieldControl,
  ServerControl,
  ServerToolControl,
  ServerToolsControl,
} from "./knownFields";
import { ModelControl } from "./ModelControl";
import { SecretControl } from "./SecretControl";
import { BooleanControl, MultiselectControl, NumberControl, SelectControl, TextControl } from "./simpleControls";
import { TableEditor } from "./TableEditor";
import { VariableTextBox } from "./TextBox";
import { ToolsControl } from "./ToolsControl";
import { fromGrid, toGrid } from "./tablePaste";
import type { ControlProps, FieldControlProps } from "./types";

const operations = () => import("./operationFields");
const OperationControl = part(async () => ({ default: (await operations()).OperationControl }));
const ArgumentsControl = part(async () => ({ default: (await operations()).ArgumentsControl }));
const ApprovalFormControl = part(async () => ({
  default: (await import("@/components/form-builder")).ApprovalFormControl,
}));
const SqlControl = part(async () => ({ default: (await import("./SqlControl")).SqlControl }));
const StoragePathControl = part(async () => ({ default: (await import("./StoragePathControl")).StoragePathControl }));
const OperationsControl = part(async () => ({ default: (await operations()).OperationsControl }));

const KINDS: Record<string, ComponentType<ControlProps>> = {
  text: TextControl,
  multiline: TextControl,
  message: TextControl,
  number: NumberControl,
  integer: NumberControl,
  boolean: BooleanControl,
  select: SelectControl,
  multiselect: MultiselectControl,
  secret: SecretControl,
  code: CodeControl,
  json: JsonControl,
  table: TableControl,
  file: FileControl,
  model: ModelControl,
  connection: ConnectionControl,
  flow: FlowControl,
};

/** Fields that are texts to the server and choices to people, by component and name. */
const KNOWN: Record<string, ComponentType<ControlProps>> = {
  "McpCall.server": ServerControl,
  "McpCall.tool_name": ServerToolControl,
  "McpTools.server": ServerControl,
  "McpTools.tools": ServerToolsControl,
  "FileInput.field": FormFieldControl,
  "ApiCall.operation": OperationControl,
  "ApiCall.arguments": ArgumentsControl,
  "ApiTools.operations": OperationsControl,
  "Approval.questions": ApprovalFormControl,
  "SqlQuery.sql": SqlControl,
  "SqlWrite.sql": SqlControl,
  "FolderFiles.folder": StoragePathControl,
  "WriteFile.folder": StoragePathControl,
  "MoveFile.path": StoragePathControl,
  "MoveFile.target": StoragePathControl,
};

/** The control for a field of any kind. It changes nothing itself: `onChange` gets what was set. */
export function FieldControl(props: FieldControlProps) {
  const label = props.field.label || props.field.name;
  if (props.nodeId) return <OfNode {...props} nodeId={props.nodeId} label={label} />;
  return <OfKind {...props} label={label} />;
}

function OfNode(props: ControlProps & { nodeId: string }) {
  const { field, nodeId, value, label } = props;
  const type = useDraft((state) => state.document.nodes[nodeId]?.type ?? "");
  if (field.kind === "tools") return <ToolsControl field={field} nodeId={nodeId} label={label} />;
  const whole = typeof value === "string" && /^\s*\{\{.*\}\}\s*$/s.test(value) && field.interpolate !== false;
  const Known = field.name === "assistant" && !whole ? AssistantControl : KNOWN[`${type}.${field.name}`];
  if (Known) {
    return (
      <Suspense>
        <Known {...props} />
      </Suspense>
    );
  }
  // A reference may stand for a value of any kind: a number, a table, a model.
  if (whole && !["text", "multiline", "message", "secret", "json", "code"].includes(field.kind)) {
    const { id, "aria-describedby": about, "aria-invalid": invalid } = props;
    const ids = {
      ...(id ? { id } : {}),
      ...(about ? { "aria-describedby": about } : {}),
      ...(invalid ? { "aria-invalid": invalid } : {}),
    };
    return (
      <VariableTextBox
        {...ids}
        nodeId={nodeId}
        label={label}
        value={value}
        onChange={(text) => props.onChange(text || undefined)}
      />
    );
  }
  return <OfKind {...props} />;
}

function OfKind(props: ControlProps) {
  const Control = KINDS[props.field.kind] ?? TextControl;
  return <Control {...props} />;
}

function CodeControl({ field, value, onChange, label, "aria-invalid": invalid }: ControlProps) {
  return (
    <CodeEditor
      language={field.name === "source" || field.name === "code" ? "python" : "text"}
      label={label}
      value={typeof value === "string" ? value : ""}
      onChange={(text) => onChange(text === "" ? undefined : text)}
      minLines={field.name === "source" ? 8 : 4}
      {...(invalid ? { "aria-invalid": invalid } : {})}
    />
  );
}

function TableControl(props: ControlProps) {
  const grid = toGrid(props.value);
  if (!grid) return <JsonControl {...props} />;
  return (
    <TableEditor
      label={props.label}
      grid={grid}
      onChange={(next) => props.onChange(next.columns.length === 0 ? undefined : fromGrid(next))}
    />
  );
}
