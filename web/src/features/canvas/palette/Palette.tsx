import { PanelLeftClose, Search } from "lucide-react";
import { useMemo, useState } from "react";
import type { Template } from "@/api/types";
import { KindIcon } from "@/components/icons";
import { IconButton } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { add } from "../actions/nodes";
import { searched } from "../model/search";
import { useStage } from "../model/stage";
import { byCategory, categoryName, DRAG_KIND, searchTexts } from "./catalogue";

/** Every component by category: drag one to the canvas, or click it and it finds its place. */
export function Palette({ onClose, onAdded }: { onClose?: () => void; onAdded?: () => void }) {
  const stage = useStage();
  const t = stage.t;
  const templates = useDraft((state) => state.templates);
  const [query, setQuery] = useState("");
  const groups = useMemo(() => {
    const all = Object.values(templates);
    if (!query.trim()) return byCategory(all);
    const found = searched(query, all, searchTexts);
    return found.length > 0 ? ([["", found]] as [string, Template[]][]) : [];
  }, [templates, query]);
  const choose = (template: Template) => {
    add(stage, template, null);
    onAdded?.();
  };
  return (
    <section aria-label={t("components")} className="flex h-full min-h-0 flex-col bg-surface">
      <div className="flex items-center gap-1 p-2">
        <label className="relative min-w-0 flex-1">
          <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
          <input
            type="search"
            aria-label={t("find_component")}
            placeholder={t("find_component")}
            value={query}
            onChange={(event) => setQuery(event.target.value)}
            onKeyDown={(event) => {
              const first = groups[0]?.[1][0];
              if (event.key === "Enter" && query && first) choose(first);
              if (event.key === "Escape") setQuery("");
            }}
            className="h-8 w-full rounded-md border border-line-strong bg-surface pr-2 pl-8 text-base placeholder:text-faint"
          />
        </label>
        {onClose && (
          <IconButton label={t("hide_palette")} onClick={onClose}>
            <PanelLeftClose />
          </IconButton>
        )}
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-3" tabIndex={-1}>
        {groups.map(([category, members]) => (
          <div key={category || "found"} className="mb-2">
            {category && (
              <h2 className="px-1.5 pt-2 pb-1 text-xs font-medium text-faint">{categoryName(category, t)}</h2>
            )}
            <ul>
              {members.map((template) => (
                <li key={template.type}>
                  <Entry template={template} onChoose={choose} />
                </li>
              ))}
            </ul>
          </div>
        ))}
        {groups.length === 0 && <p className="px-2 py-6 text-center text-sm text-muted">{t("no_component")}</p>}
      </div>
    </section>
  );
}

function Entry({ template, onChoose }: { template: Template; onChoose: (template: Template) => void }) {
  return (
    <button
      type="button"
      draggable
      title={template.description}
      onDragStart={(event) => {
        event.dataTransfer.setData(DRAG_KIND, template.type);
        event.dataTransfer.effectAllowed = "copy";
      }}
      onClick={() => onChoose(template)}
      className="flex h-8 w-full cursor-grab items-center gap-2.5 rounded-md px-1.5 text-left text-sm hover:bg-hover active:cursor-grabbing [&_svg]:size-4 [&_svg]:shrink-0"
    >
      <KindIcon template={template} />
      <span className="min-w-0 truncate">{template.label}</span>
    </button>
  );
}
