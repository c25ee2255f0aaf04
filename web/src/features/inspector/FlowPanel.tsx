import { useState } from "react";
import { Comments } from "@/components/comments";
import { FlowFields, FormBuilder } from "@/components/form-builder";
import { FlowFailureFields, FlowLimitFields } from "@/components/policy";
import { Tabs } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { useInspectorTexts } from "./texts";

/** The flow itself: the form that a run starts with, and what holds for all of it. */
export function FlowPanel() {
  const t = useInspectorTexts();
  const name = useDraft((state) => state.document.name);
  const [tab, setTab] = useState<"form" | "settings" | "comments">("form");
  return (
    <>
      <header className="flex h-11 items-center border-line border-b pr-11 pl-4">
        <h2 className="truncate font-semibold">{name}</h2>
      </header>
      <Tabs
        aria-label={t("parts")}
        className="flex-1"
        value={tab}
        onChange={setTab}
        tabs={[
          { value: "form", label: t("form"), content: <div className="p-4">{<FormBuilder />}</div> },
          {
            value: "settings",
            label: t("settings"),
            content: (
              <div className="flex flex-col gap-4 p-4">
                <FlowFields />
                <FlowFailureFields />
                <FlowLimitFields />
              </div>
            ),
          },
          {
            value: "comments",
            label: t("comments"),
            content: <div className="p-4">{<Comments nodeId={null} />}</div>,
          },
        ]}
      />
    </>
  );
}
