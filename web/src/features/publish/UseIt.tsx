import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { CopyButton, Tabs } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { ChatLink } from "./ChatLink";
import { curl, mcp, openai, python, typescript } from "./snippets";
import { usePublishTexts } from "./texts";
import { WidgetSlot } from "./WidgetSlot";

type Way = "chat" | "curl" | "python" | "typescript" | "openai" | "mcp" | "widget";

/** The ways to call what is published, with this flow's own address and form. */
export function UseIt() {
  const t = usePublishTexts();
  const flowId = useDraft((state) => state.flowId);
  const form = useDraft((state) => state.document.form);
  const [way, setWay] = useState<Way>("curl");
  const called = { origin: window.location.origin, flowId, form };
  const code = (name: string, text: string, about: string) => <Snippet label={name} text={text} about={about} />;
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-surface">
      <Tabs
        aria-label={t("use")}
        value={way}
        onChange={setWay}
        tabs={[
          { value: "curl", label: "curl", content: code("curl", curl(called), t("rest_about")) },
          { value: "python", label: "Python", content: code("Python", python(called), t("rest_about")) },
          {
            value: "typescript",
            label: "TypeScript",
            content: code("TypeScript", typescript(called), t("rest_about")),
          },
          { value: "openai", label: "OpenAI", content: code("OpenAI", openai(called), t("openai_about")) },
          { value: "mcp", label: "MCP", content: code("MCP", mcp(called), t("mcp_about")) },
          { value: "chat", label: t("chat"), content: <ChatLink /> },
          { value: "widget", label: t("widget"), content: <WidgetSlot /> },
        ]}
      />
    </div>
  );
}

function Snippet({ label, text, about }: { label: string; text: string; about: string }) {
  const t = usePublishTexts();
  return (
    <div className="flex flex-col gap-3 p-4">
      <p className="text-sm text-muted">
        {about}{" "}
        <Link
          to="/settings/{-$section}"
          params={{ section: "keys" }}
          className="font-medium text-accent hover:underline"
        >
          {t("make_key")}
        </Link>
      </p>
      <div className="relative">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
        <pre tabIndex={0} className="overflow-x-auto rounded-md bg-sunken p-3 pr-12 font-mono text-xs leading-5">
          <code>{text}</code>
        </pre>
        <span className="absolute top-1.5 right-1.5 rounded-md bg-raised">
          <CopyButton text={text} label={t("copy_snippet", { name: label })} />
        </span>
      </div>
    </div>
  );
}
