import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui";
import { number } from "@/lib/i18n/format";
import { shortened } from "@/lib/shortened";
import { useValueTexts } from "./texts";

const FIRST = 50;
const FIRST_CHARACTERS = 4000;

/** Nested data as a tree that opens; nobody reads braces. */
export function TreeView({ value, depth = 0 }: { value: object; depth?: number }) {
  const t = useValueTexts();
  const [shown, setShown] = useState(FIRST);
  const entries = Object.entries(value);
  return (
    <ul className={depth === 0 ? "font-mono text-xs" : "ml-2 border-l border-line pl-3"}>
      {entries.slice(0, shown).map(([name, member]) => (
        <Member key={name} name={name} value={member} depth={depth} />
      ))}
      {entries.length > shown && (
        <li>
          <button type="button" className="py-0.5 text-accent" onClick={() => setShown(shown * 4)}>
            {t("show_items", { count: entries.length - shown })}
          </button>
        </li>
      )}
    </ul>
  );
}

function Member({ name, value, depth }: { name: string; value: unknown; depth: number }) {
  const t = useValueTexts();
  const [open, setOpen] = useState(depth < 1);
  if (typeof value !== "object" || value === null) {
    return (
      <li className="flex gap-2 py-0.5">
        <span className="shrink-0 text-muted">{name}</span>
        <Leaf value={value} />
      </li>
    );
  }
  const count = Object.keys(value).length;
  return (
    <li className="py-0.5">
      <button
        type="button"
        aria-expanded={open}
        className="flex items-center gap-1 text-left"
        onClick={() => setOpen(!open)}
      >
        <ChevronRight aria-hidden className={open ? "size-3.5 rotate-90 text-faint" : "size-3.5 text-faint"} />
        <span className="text-muted">{name}</span>
        <span className="text-faint">{t(Array.isArray(value) ? "items" : "members", { count })}</span>
      </button>
      {open && <TreeView value={value} depth={depth + 1} />}
    </li>
  );
}

function Leaf({ value }: { value: unknown }) {
  const t = useValueTexts();
  if (value === null || value === undefined) return <span className="text-faint">{t("nothing")}</span>;
  if (typeof value === "boolean") return <span className="text-port-model">{t(value ? "yes" : "no")}</span>;
  if (typeof value === "number") return <span className="text-port-data">{value}</span>;
  return <Words text={String(value)} />;
}

/** A long text in a tree: its beginning, until all of it is asked for. */
function Words({ text }: { text: string }) {
  const t = useValueTexts();
  const [all, setAll] = useState(false);
  const cut = !all && text.length > FIRST_CHARACTERS;
  return (
    <span className="min-w-0 whitespace-pre-wrap break-words">
      {cut ? shortened(text, FIRST_CHARACTERS) : text}
      {cut && (
        <Button size="sm" className="ml-2" onClick={() => setAll(true)}>
          {t("open_all", { count: number(text.length) })}
        </Button>
      )}
    </span>
  );
}
