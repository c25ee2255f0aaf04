import { FileUp } from "lucide-react";
import { type DragEvent, type ReactNode, Suspense, useRef, useState } from "react";
import { useRights } from "@/api/rights";
import { part } from "@/lib/part";
import { useHomeTexts } from "../texts";

const ImportDialog = part(() => import("./ImportDialog"));

interface ImportingProps {
  choosing: boolean;
  onChoosing: (open: boolean) => void;
  space: string | undefined;
  children: ReactNode;
}

/** The page as a place to drop a file on; what is dropped is looked into before it opens. Who builds nowhere drops in vain. */
export function Importing({ choosing, onChoosing, space, children }: ImportingProps) {
  const t = useHomeTexts();
  const [dropped, setDropped] = useState<File | null>(null);
  const [over, setOver] = useState(false);
  const depth = useRef(0);
  const builds = useRights().may("flows.edit");
  const isFile = (event: DragEvent) => event.dataTransfer.types.includes("Files");
  const enter = (event: DragEvent, step: 1 | -1) => {
    if (!isFile(event)) return;
    event.preventDefault();
    depth.current += step;
    setOver(builds && depth.current > 0);
  };
  const drop = (event: DragEvent) => {
    if (!isFile(event)) return;
    event.preventDefault();
    depth.current = 0;
    setOver(false);
    const [file] = event.dataTransfer.files;
    if (file && builds) {
      setDropped(file);
      onChoosing(true);
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is one of two ways; the button opens the same dialog
    <div
      className="relative min-h-full"
      onDragEnter={(event) => enter(event, 1)}
      onDragLeave={(event) => enter(event, -1)}
      onDragOver={(event) => isFile(event) && event.preventDefault()}
      onDrop={drop}
    >
      {children}
      {over && (
        <div className="pointer-events-none fixed inset-3 z-30 flex flex-col items-center justify-center gap-3 rounded-xl border-2 border-accent border-dashed bg-accent-soft/90 text-lg font-semibold text-accent animate-fade">
          <FileUp aria-hidden className="size-8" />
          {t("import_drop")}
        </div>
      )}
      {choosing && (
        <Suspense>
          <ImportDialog
            first={dropped}
            space={space}
            onClose={() => {
              setDropped(null);
              onChoosing(false);
            }}
          />
        </Suspense>
      )}
    </div>
  );
}
