import { FolderInput, RotateCcw, Tag, Trash2, Undo2 } from "lucide-react";
import { useState } from "react";
import { type Selection, SelectionBar } from "@/components/lists";
import { Button } from "@/components/ui";
import { useHomeTexts } from "../texts";
import { MoveDialog } from "./MoveDialog";
import { TagDialog } from "./TagDialog";
import { useBulk } from "./useBulk";

interface FlowBulkBarProps {
  selection: Selection;
  space: string | undefined;
  /** The selected flows are in the trash. */
  trash: boolean;
  /** Whether any of them is published. */
  published: boolean;
}

/** What can be done with the selected flows. */
export function FlowBulkBar({ selection, space, trash, published }: FlowBulkBarProps) {
  const t = useHomeTexts();
  const apply = useBulk();
  const [asked, setAsked] = useState<"move" | "tag" | null>(null);
  const act = (change: Parameters<typeof apply>[1]) => {
    void apply(selection.ids, change);
    setAsked(null);
    selection.clear();
  };
  return (
    <>
      <SelectionBar
        count={selection.ids.length}
        onClear={selection.clear}
        className="sticky bottom-3 z-20 rounded-lg border shadow-float"
      >
        {trash ? (
          <Button kind="primary" icon={<RotateCcw />} onClick={() => act({ action: "restore", tags: [] })}>
            {t("restore")}
          </Button>
        ) : (
          <>
            <Button icon={<FolderInput />} onClick={() => setAsked("move")}>
              {t("move")}
            </Button>
            <Button icon={<Tag />} onClick={() => setAsked("tag")}>
              {t("flow_tags")}
            </Button>
            {published && (
              <Button icon={<Undo2 />} onClick={() => act({ action: "unpublish", tags: [] })}>
                {t("unpublish")}
              </Button>
            )}
            <Button kind="danger" icon={<Trash2 />} onClick={() => act({ action: "delete", tags: [] })}>
              {t("delete")}
            </Button>
          </>
        )}
      </SelectionBar>
      {asked === "move" && (
        <MoveDialog
          count={selection.ids.length}
          space={space}
          onMove={(folder) => act({ action: "move", folder, tags: [] })}
          onClose={() => setAsked(null)}
        />
      )}
      {asked === "tag" && (
        <TagDialog
          count={selection.ids.length}
          space={space}
          onTag={(action, tags) => act({ action, tags })}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}
