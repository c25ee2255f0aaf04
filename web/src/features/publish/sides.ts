import type { Side } from "@/api/queries/versions";

/** A side of a comparison as the address has it. */
export function sideOf(text: string | undefined): Side | null {
  if (text === "draft") return "draft";
  const number = Number(text);
  return text && Number.isInteger(number) && number > 0 ? number : null;
}
