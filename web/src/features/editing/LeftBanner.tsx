import { useEffect, useState } from "react";
import { Button, toast } from "@/components/ui";
import { merge, toDocument, useDraftStore } from "@/lib/draft";
import { dateTime } from "@/lib/i18n/format";
import { Banner } from "./Banner";
import { GONE_MS, type UnsavedCopy, unsavedCopies } from "./copies";
import { useEditingTexts } from "./texts";

/** What this browser kept because it could not be saved, offered back. */
export function LeftBanner({ tab }: { tab: string }) {
  const t = useEditingTexts();
  const store = useDraftStore();
  const [left, setLeft] = useState<{ copy: UnsavedCopy; count: number } | null>(null);
  const { flowId } = store.getState();
  useEffect(() => {
    const copies = unsavedCopies(flowId, tab);
    const look = () => {
      const { document, edits } = store.getState();
      const copy = copies.left();
      if (!copy || (copy.tab === tab && edits > 0)) return;
      const [before, mine] = [toDocument(copy.base), toDocument(copy.mine)];
      const { writes, conflicts } = merge(before, document, mine);
      const count = writes.filter(({ place }) => place.kind !== "order").length + conflicts.length;
      if (count > 0) setLeft({ copy, count });
      else copies.forget(copy.tab);
    };
    look();
    // A tab that fell over a moment ago still looks alive.
    const timer = setTimeout(look, GONE_MS + 1000);
    return () => clearTimeout(timer);
  }, [flowId, store, tab]);
  if (!left) return null;
  const { copy, count } = left;
  const forget = () => {
    unsavedCopies(flowId, copy.tab).forget();
    setLeft(null);
  };
  const bringBack = () => {
    forget();
    store.getState().resume(copy.base, copy.mine, t("brought_back"));
  };
  const throwAway = () => {
    forget();
    const undo = () => {
      unsavedCopies(flowId, tab).keep(copy);
      setLeft({ copy: { ...copy, tab }, count });
    };
    toast({ title: t("thrown_away"), action: { label: t("undo"), onClick: undo } });
  };
  return (
    <Banner
      tone="info"
      title={t("left_title", { when: dateTime(new Date(copy.at)) })}
      actions={
        <>
          <Button size="sm" kind="primary" onClick={bringBack}>
            {t("bring_back")}
          </Button>
          <Button size="sm" onClick={throwAway}>
            {t("throw_away")}
          </Button>
        </>
      }
    >
      {t("left_more", { count })}
    </Banner>
  );
}
