import { onlineManager } from "@tanstack/react-query";
import { CloudOff } from "lucide-react";
import { useSyncExternalStore } from "react";
import { useAppTexts } from "../texts";

const subscribe = (changed: () => void) => onlineManager.subscribe(changed);

/** This machine has no network: what is seen may be old, and goes on by itself. */
export function OfflineNotice() {
  const t = useAppTexts();
  const online = useSyncExternalStore(subscribe, () => onlineManager.isOnline());
  return (
    <div role="status" className="shrink-0">
      {!online && (
        <p className="flex items-center gap-2 border-b border-line bg-warn-soft px-3 py-1 text-sm text-warn">
          <CloudOff aria-hidden className="size-4 shrink-0" />
          {t("offline")}
        </p>
      )}
    </div>
  );
}
