import type { useRunTexts } from "../texts";

/** A slot in words: that of a flow, of a key, of a connection, or of a model. */
export function slotName(t: ReturnType<typeof useRunTexts>, name: string): string {
  const [kind, ...rest] = name.split(":");
  if (kind === "flow") return t("slot_flow");
  if (kind === "key") return t("slot_key", { key: rest.slice(1).join(":") });
  if (kind === "connection") return t("slot_connection", { name: rest[1] ?? rest[0] ?? "" });
  return rest.join(":");
}
