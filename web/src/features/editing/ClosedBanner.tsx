import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "@/api/client";
import { Button, toast, toastError } from "@/components/ui";
import { toFlow, useDraft, useDraftStore } from "@/lib/draft";
import { Banner } from "./Banner";
import { useEditingTexts } from "./texts";

/** The flow went, or the right to change it: what is still here can become a flow of one's own. */
export function ClosedBanner() {
  const t = useEditingTexts();
  const store = useDraftStore();
  const navigate = useNavigate();
  const closed = useDraft((state) => state.closed);
  const [busy, setBusy] = useState(false);
  if (!closed) return null;
  const keep = async () => {
    setBusy(true);
    try {
      const definition = toFlow(store.getState().document);
      const name = t("copy_of", { name: definition.name ?? "" });
      const made = await unwrap(api.POST("/api/v1/flows", { body: { name, definition } }));
      toast({ title: t("kept_as_new"), tone: "ok" });
      await navigate({ to: "/flows/$flowId", params: { flowId: made.id } });
    } catch (error) {
      toastError(t("not_kept"), error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Banner
      tone="bad"
      title={t(`${closed}_title`)}
      actions={
        <>
          <Button size="sm" busy={busy} onClick={() => void keep()}>
            {t("keep_as_new")}
          </Button>
          <Link to="/" className="inline-flex h-7 items-center px-2 text-sm font-medium text-ink hover:underline">
            {t("home")}
          </Link>
        </>
      }
    >
      {t(`${closed}_more`)}
    </Banner>
  );
}
