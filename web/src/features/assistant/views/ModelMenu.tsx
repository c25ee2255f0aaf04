import { useQuery } from "@tanstack/react-query";
import { Check, ChevronDown } from "lucide-react";
import { useState } from "react";
import { assistantConfigQuery } from "@/api/queries/assistant";
import { Menu, type MenuItem } from "@/components/ui";
import type { ModelChoice } from "../state/turnSlice";
import { useAssistantTexts } from "../texts";
import { ConnectDialog } from "./ConnectDialog";
import { useAssistant, useAssistantStore } from "./context";

const OFFLINE: ModelChoice = { provider: "offline", name: "" };

/** Which model answers: the server's choice, one of those that are configured, or none. */
export function ModelMenu() {
  const t = useAssistantTexts();
  const store = useAssistantStore();
  const model = useAssistant((state) => state.model);
  const config = useQuery(assistantConfigQuery);
  const [connecting, setConnecting] = useState(false);
  const choose = (next: ModelChoice | null) => store.getState().setModel(next);
  const is = (one: ModelChoice | null) => one?.provider === model?.provider && one?.name === model?.name;
  const item = (choice: ModelChoice | null, label: string): MenuItem => ({
    id: choice ? `${choice.provider}/${choice.name}` : "auto",
    label,
    icon: <Check aria-hidden className={is(choice) ? "text-accent" : "invisible"} />,
    onSelect: () => choose(choice),
  });
  const found = config.data;
  const fallback =
    found?.configured && found.default_provider !== "offline"
      ? `${found.default_provider}/${found.default_model}`
      : t("model_offline");
  const items: MenuItem[] = [item(null, t("model_default", { model: fallback }))];
  for (const provider of found?.providers.filter((one) => one.configured) ?? []) {
    items.push({ kind: "heading", id: `heading ${provider.name}`, label: provider.label });
    for (const one of provider.models ?? []) {
      const name = String(one.name);
      items.push(item({ provider: provider.name, name }, String(one.display_name ?? name)));
    }
  }
  items.push({ kind: "line", id: "line" }, item(OFFLINE, t("model_offline")), {
    id: "connect",
    label: t("model_connect"),
    icon: <span className="size-4" />,
    onSelect: () => setConnecting(true),
  });
  const shown = model === null ? fallback : model.provider === "offline" ? t("model_offline") : model.name;
  return (
    <>
      <Menu items={items} align="start">
        <button
          type="button"
          aria-label={`${t("model")}: ${shown}`}
          className="flex h-7 min-w-0 items-center gap-1 rounded-md px-1.5 text-xs text-muted hover:bg-hover hover:text-ink"
        >
          <span className="truncate">{shown}</span>
          <ChevronDown aria-hidden className="size-3.5 shrink-0 text-faint" />
        </button>
      </Menu>
      <ConnectDialog open={connecting} onOpenChange={setConnecting} />
    </>
  );
}
