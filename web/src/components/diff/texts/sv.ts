import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  same: "Inga skillnader.",
  unchanged_one: "{{count}} oförändrad rad",
  unchanged_other: "{{count}} oförändrade rader",
  added: "tillagt:",
  removed: "borttaget:",
};
export default sv;
