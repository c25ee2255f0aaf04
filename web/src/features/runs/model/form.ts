import type { FlowNode, FormField, JsonValue, RunStart } from "@/api/types";
import { takesFile } from "@/components/files/fields";
import { asData, inText } from "@/lib/jsonText";
import { own } from "@/lib/own";

/** What somebody has put into the form so far. Files are ids of uploads. */
export interface FormValues {
  text: string;
  answers: Record<string, string>;
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

/** What is wrong with each field: nothing there that must be, or no number. */
export function faults(form: readonly FormField[], values: FormValues): Record<string, "required" | "number"> {
  const found: Record<string, "required" | "number"> = {};
  for (const field of form) {
    const there = takesFile(field)
      ? (own(values.files, field.id) ?? []).length > 0
      : Boolean(own(values.answers, field.id)?.trim());
    if (field.required && !there) found[field.id] = "required";
    else if (field.type === "number" && there && Number.isNaN(asNumber(own(values.answers, field.id) ?? "")))
      found[field.id] = "number";
  }
  return found;
}

/** A number as people write it: `1 200,5` is one too. */
function asNumber(text: string): number {
  const plain = text
    .trim()
    .replace(/[\s\u00a0]/g, "")
    .replace(",", ".");
  return plain === "" ? Number.NaN : Number(plain);
}

/** What starts the run that the form describes. */
export function runStart(form: readonly FormField[], values: FormValues): RunStart {
  const answers: Record<string, JsonValue> = {};
  for (const field of form) {
    const answer = answerOf(field, values);
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

function answerOf(field: FormField, values: FormValues): JsonValue {
  if (takesFile(field)) {
    const ids = own(values.files, field.id) ?? [];
    return ids.length > 1 ? ids : (ids[0] ?? null);
  }
  const answer = own(values.answers, field.id)?.trim();
  if (!answer) return null;
  if (field.type === "json") return asData(answer);
  return field.type === "number" ? asNumber(answer) : answer;
}

type Given = { text: string; form_data: Record<string, unknown>; file_ids: string[] };

/** The form filled in as it was for a past run; what the form no longer asks is left out. */
export function valuesOf(form: readonly FormField[], given: Given): FormValues {
  const answers: FormValues["answers"] = {};
  const files: FormValues["files"] = {};
  for (const field of form) {
    const answer = given.form_data[field.id];
    if (answer === undefined || answer === null) continue;
    if (takesFile(field)) files[field.id] = (Array.isArray(answer) ? answer : [answer]).map(String);
    else if (field.type !== "select" || field.options?.includes(String(answer)))
      answers[field.id] = field.type === "json" ? inText(answer) : String(answer);
  }
  const inForm = new Set(Object.values(files).flat());
  return { text: given.text, answers, files, loose: given.file_ids.filter((id) => !inForm.has(id)) };
}
