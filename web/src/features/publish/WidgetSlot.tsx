import { CopyButton } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { usePublishTexts } from "./texts";

/** The widget for other pages: the line that puts it there. */
export function WidgetSlot() {
  const t = usePublishTexts();
  const flowId = useDraft((state) => state.flowId);
  const line = `<script src="${window.location.origin}/widget.js" data-flow="${flowId}" async></script>`;
  return (
    <div className="flex flex-col gap-3 p-4">
      <p className="text-sm text-muted">{t("widget_about")}</p>
      <div className="relative">
        <pre className="overflow-x-auto rounded-md bg-sunken p-3 pr-12 font-mono text-xs">
          <code>{line}</code>
        </pre>
        <span className="absolute top-1.5 right-1.5 rounded-md bg-raised">
          <CopyButton text={line} label={t("copy_snippet", { name: t("widget") })} />
        </span>
      </div>
    </div>
  );
}
