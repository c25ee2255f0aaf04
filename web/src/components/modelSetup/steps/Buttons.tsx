import type { ReactNode } from "react";
import { Button } from "@/components/ui";
import { useModelSetupTexts } from "../texts";

/** The buttons of a step, which stay in view while its content scrolls; the main one last. */
export function Buttons({ onBack, children }: { onBack?: () => void; children?: ReactNode }) {
  const t = useModelSetupTexts();
  return (
    <div className="sticky -bottom-4 -mx-5 -mb-4 flex flex-wrap justify-end rounded-b-xl gap-2 border-line border-t bg-surface px-5 py-3">
      {onBack && (
        <Button kind="ghost" className="mr-auto" onClick={onBack}>
          {t("back")}
        </Button>
      )}
      {children}
    </div>
  );
}
