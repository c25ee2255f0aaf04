import { Trash2 } from "lucide-react";
import { ago, dateTime } from "@/lib/i18n/format";
import { useHomeTexts } from "../texts";

/** When a flow in the trash was deleted. */
export function Deleted({ at }: { at: string }) {
  const t = useHomeTexts();
  return (
    <span className="flex items-center gap-1 truncate text-xs text-muted" title={dateTime(at)}>
      <Trash2 aria-hidden className="size-3 shrink-0" />
      {t("deleted_when", { when: ago(at) })}
    </span>
  );
}
