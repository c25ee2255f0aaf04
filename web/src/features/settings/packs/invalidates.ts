import { componentKeys } from "@/api/queries/components";
import { connectionKeys } from "@/api/queries/connections";
import { packKeys } from "@/api/queries/packs";
import { templateKeys } from "@/api/queries/templates";

/** What packs bring to other places: it is asked anew when one is installed, upgraded or removed. */
export const CHANGED = [packKeys.all, componentKeys.all, connectionKeys.kinds, templateKeys.all] as const;
