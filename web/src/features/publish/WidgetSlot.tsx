import { WidgetSettings } from "@/components/widget/WidgetSettings";
import { useDraft } from "@/lib/draft";

/** The widget for other pages: how it looks, where it may stand, and the line that puts it there. */
export function WidgetSlot() {
  return <WidgetSettings flowId={useDraft((state) => state.flowId)} />;
}
