import { useMemo, useState } from "react";
import type { Flow } from "@/api/types";
import { FlowDrawing } from "@/components/flow-drawing/FlowDrawing";
import type { Mark } from "@/components/flow-drawing/looks";
import { Button, Dialog } from "@/components/ui";
import { type Conflict, placeKey, useDraft, useDraftStore } from "@/lib/draft";
import { ConflictPlace } from "./ConflictPlace";
import { useConflictView } from "./conflictView";
import { grouped } from "./sides";
import { useEditingTexts } from "./texts";

/** Both sides of what two people changed, place by place; takes the choice. */
export function ConflictDialog() {
  const open = useConflictView((state) => state.open);
  const conflict = useDraft((state) => state.conflict);
  if (!open || !conflict) return null;
  return <Choosing key={conflict.revision} conflict={conflict} />;
}

function Choosing({ conflict }: { conflict: Conflict }) {
  const t = useEditingTexts();
  const store = useDraftStore();
  const templates = useDraft((state) => state.templates);
  const document = useDraft((state) => state.document);
  const [theirs, setTheirs] = useState<ReadonlySet<string>>(new Set());
  const known = { document, templates };
  const close = () => useConflictView.setState({ open: false });
  const settle = (chosen: ReadonlySet<string>) => {
    store.getState().settle(chosen);
    close();
    void store.getState().flush();
  };
  const choose = (key: string, side: "mine" | "theirs") => {
    const next = new Set(theirs);
    if (side === "theirs") next.add(key);
    else next.delete(key);
    setTheirs(next);
  };
  const all = new Set(conflict.items.map(({ place }) => placeKey(place)));
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      size="lg"
      title={t("conflict_title", { who: conflict.by || t("somebody") })}
      description={t("conflict_lead", { count: conflict.items.length })}
      footer={
        <>
          <Button onClick={() => settle(all)}>{t("take_theirs")}</Button>
          <Button onClick={() => settle(new Set())}>{t("keep_mine")}</Button>
          <Button kind="primary" onClick={() => settle(theirs)}>
            {t("apply")}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-6">
        <Picture flow={conflict.theirs} conflict={conflict} />
        {grouped(conflict.items, t, known).map((group) => (
          <section key={group.id} aria-label={group.title} className="flex flex-col gap-3">
            <h3 className="font-semibold">{group.title}</h3>
            {group.items.map((item) => {
              const key = placeKey(item.place);
              return (
                <ConflictPlace
                  key={key}
                  item={item}
                  known={known}
                  side={theirs.has(key) ? "theirs" : "mine"}
                  onChoose={(side) => choose(key, side)}
                />
              );
            })}
          </section>
        ))}
      </div>
    </Dialog>
  );
}

/** Where in the flow it is; a node that only they have, or have no more, is marked as such. */
function Picture({ flow, conflict }: { flow: Flow; conflict: Conflict }) {
  const t = useEditingTexts();
  const templates = useDraft((state) => state.templates);
  const marks = useMemo(() => {
    const found: Record<string, Mark> = {};
    for (const { place, mine } of conflict.items) {
      if (place.id) found[place.id] = place.kind === "node" && mine === undefined ? "added" : "changed";
    }
    return found;
  }, [conflict]);
  if (Object.keys(marks).length === 0) return null;
  return (
    <div className="h-40 rounded-md border border-line bg-canvas p-2">
      <FlowDrawing flow={flow} templates={templates} marks={marks} title={t("picture")} />
    </div>
  );
}
