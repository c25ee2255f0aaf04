import type { FlowShow } from "@/api/queries/flowList";

/** A word of the address; numbers are read as such by the router. */
export const text = (value: unknown): string | undefined =>
  typeof value === "number" ? String(value) : typeof value === "string" && value ? value : undefined;

/** The words of an address that a page reads, by name. */
export const words =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>) =>
    Object.fromEntries(names.map((name) => [name, text(search[name])])) as { [Key in Name]?: string | undefined };

/** What the list of flows shows. */
export const flowList = (search: Record<string, unknown>) => {
  const show: { show?: FlowShow | undefined } = {
    show: search.show === "favourites" || search.show === "trash" ? search.show : undefined,
  };
  return { ...words("space", "search", "folder", "tag")(search), ...show };
};
