import { readStored, removeStored, writeStored } from "./storage";

/** The input that a template brings for the first run of its flow. */
export interface SampleInput {
  text: string;
  form_data: Record<string, unknown>;
  file_ids: string[];
}

const keyOf = (flowId: string) => `chat.sample.${flowId}`;

/** Keep the sample data of a template for the first run of the flow made of it. */
export function keepSample(
  flowId: string,
  sample: { text?: string; form?: Record<string, unknown> },
  fileIds: string[],
): void {
  const input: SampleInput = { text: sample.text ?? "", form_data: sample.form ?? {}, file_ids: fileIds };
  if (input.text || fileIds.length > 0 || Object.keys(input.form_data).length > 0) writeStored(keyOf(flowId), input);
}

/** The sample data that waits for the first run of a flow; what else stands in the browser's storage is none. */
export function sampleOf(flowId: string): SampleInput | null {
  const found = readStored<Partial<SampleInput>>(keyOf(flowId), {});
  if (typeof found.text !== "string" || !Array.isArray(found.file_ids)) return null;
  return { text: found.text, form_data: { ...found.form_data }, file_ids: found.file_ids.map(String) };
}

/** The first run took it: what is typed from now on is the user's own. */
export const forgetSample = (flowId: string): void => removeStored(keyOf(flowId));
