import type { FormField } from "@/api/types";

type Kind = NonNullable<FormField["type"]>;

const FILE_TYPES = new Set<Kind>(["image", "audio", "document", "file"]);
/** Whether a field of a form is answered with files. */
export const takesFile = (field: FormField) => FILE_TYPES.has(field.type ?? "text");

const ACCEPTS: Partial<Record<Kind, string>> = {
  image: "image/*",
  audio: "audio/*,video/webm,video/mp4",
  document: ".pdf,.docx,.xlsx,.pptx,.txt,.md,.csv,.json,.html,.rtf,.odt,text/*,application/pdf",
};
/** Which files fit, as the `accept` of an input. */
export const acceptOf = (field: FormField) => ACCEPTS[field.type ?? "text"];
