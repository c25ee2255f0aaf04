import type { Template } from "@/api/types";
import type { TakesMany } from "./merge";

/** Whether an input takes several edges, as its template says; of a type that is not known: no. */
export function takesMany(templates: Record<string, Template>): TakesMany {
  return (type, input) => templates[type]?.fields?.find((field) => field.name === input)?.many ?? false;
}
