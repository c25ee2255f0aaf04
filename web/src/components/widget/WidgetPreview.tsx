import { useEffect, useRef } from "react";
import type { FormField } from "@/api/types";
import type { WidgetConfig } from "./config";

interface WidgetPreviewProps {
  config: WidgetConfig;
  form: FormField[];
  name: string;
  label: string;
}

/** The widget as visitors will see it, in a shadow of its own. Nothing is sent. */
export function WidgetPreview({ config, form, name, label }: WidgetPreviewProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const host = place.current;
    if (!host) return;
    let gone = false;
    void import("@/widget/view").then(({ mountWidget }) => {
      if (gone) return;
      const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
      const fields = form.map((field) => ({
        id: field.id,
        label: field.label ?? "",
        type: field.type ?? "text",
        required: field.required ?? false,
        options: field.options ?? [],
        min: field.min ?? null,
        max: field.max ?? null,
      }));
      mountWidget(root, { ...config, title: config.title || name, flow_id: "", form: fields, visit: "" }, null);
    });
    return () => {
      gone = true;
    };
  }, [config, form, name]);
  return (
    <section aria-label={label} className="h-112 overflow-auto rounded-lg border border-line bg-surface">
      <div ref={place} className="h-full" />
    </section>
  );
}
