import type { FlowNode, FormField, JsonValue, RunStart } from "@/api/types";
import { answerOf, type Fault, faultOf, type Given, givenOf } from "@/components/answers";
import { takesFile } from "@/components/files/fields";
import { own } from "@/lib/own";

/** What somebody has put into the form so far. Files are ids of uploads. */
export interface FormValues {
  text: string;
  answers: Record<string, Given>;
  files: Record<string, string[]>;
  /** Files beside the form, of a flow that has none or of a chat. */
  loose: string[];
}

export const EMPTY: FormValues = { text: "", answers: {}, files: {}, loose: [] };

/** Whether a flow reads files that no field of its form asks for. */
export const asksForFiles = (form: readonly FormField[], nodes: readonly Pick<FlowNode, "type" | "params">[]) =>
  !form.some(takesFile) && nodes.some((node) => node.type === "FileInput" && !node.params?.field);

type Reading = Pick<FlowNode, "type" | "params" | "policy">;

/** Whether any step of a flow without a form reads the text that a run is started with. */
export const asksForText = (form: readonly FormField[], nodes: readonly Reading[]) =>
  form.length === 0 && nodes.some((node) => TEXT_INPUTS.has(node.type) || JSON.stringify(node).includes("flow_input"));
const TEXT_INPUTS: ReadonlySet<string> = new Set(["ChatInput", "TextInput"]);

/** What is wrong with each field, by its id. */
export function faults(form: readonly FormField[], values: FormValues): Record<string, Fault> {
  const found: Record<string, Fault> = {};
  for (const field of form) {
    const fault = takesFile(field) ? missing(field, values) : faultOf(field, own(values.answers, field.id));
    if (fault) found[field.id] = fault;
  }
  return found;
}

const missing = (field: FormField, values: FormValues): Fault | null =>
  field.required && (own(values.files, field.id) ?? []).length === 0 ? { reason: "required" } : null;

/** What starts the run that the form describes. */
export function runStart(form: readonly FormField[], values: FormValues): RunStart {
  const answers: Record<string, JsonValue> = {};
  for (const field of form) {
    const answer = takesFile(field) ? filesOf(field, values) : answerOf(field, own(values.answers, field.id));
    if (answer !== null) answers[field.id] = answer;
  }
  return {
    text: values.text,
    form_data: answers,
    file_ids: values.loose,
    version: "draft",
    wait: false,
    pins: {},
  };
}

function filesOf(field: FormField, values: FormValues): JsonValue {
  const ids = own(values.files, field.id) ?? [];
  return ids.length > 1 ? ids : (ids[0] ?? null);
}

type RunInput = { text: string; form_data: Record<string, unknown>; file_ids: string[] };

/** The form filled in as it was for a past run; what the form no longer asks is left out. */
export function valuesOf(form: readonly FormField[], given: RunInput): FormValues {
  const answers: FormValues["answers"] = {};
  const files: FormValues["files"] = {};
  for (const field of form) {
    const answer = given.form_data[field.id];
    if (answer === undefined || answer === null) continue;
    if (takesFile(field)) files[field.id] = (Array.isArray(answer) ? answer : [answer]).map(String);
    else {
      const written = givenOf(field, answer);
      if (written !== undefined) answers[field.id] = written;
    }
  }
  const inForm = new Set(Object.values(files).flat());
  return { text: given.text, answers, files, loose: given.file_ids.filter((id) => !inForm.has(id)) };
}
