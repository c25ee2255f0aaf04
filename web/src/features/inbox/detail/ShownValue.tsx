import { useState } from "react";
import type { Approval } from "@/api/queries/approvals";
import { looksLikeMarkdown, shapeOf } from "@/components/values/shape";
import { ValueView } from "@/components/values/ValueView";
import { own } from "@/lib/own";
import { visible, visibleValue } from "@/lib/visible";
import { type Edits, mayEdit, membersOf } from "../model/edits";
import { useInboxTexts } from "../texts";
import { Editable } from "./Editable";

interface ShownValueProps {
  approval: Pick<Approval, "value" | "editable">;
  edits: Edits;
  /** Absent where the user may not decide. */
  onEdit: ((edits: Edits) => void) | undefined;
}

/** The value as what it is: text, a table, or the members of an object one under another; some of them editable. */
export function ShownValue({ approval, edits, onEdit }: ShownValueProps) {
  const { value, editable } = approval;
  const member = (name: string, shown: unknown, label: string) => {
    if (!onEdit || !mayEdit(name, shown, editable)) return <Plain value={shown} />;
    const change = (text: string | undefined) => {
      const { [name]: _, ...others } = edits;
      onEdit(text === undefined ? others : { ...others, [name]: text });
    };
    return (
      <Editable name={label} value={shown} edited={own(edits, name)} onChange={change}>
        <Plain value={shown} />
      </Editable>
    );
  };
  if (typeof value === "string") return <div className={BOX}>{member("*", value, "")}</div>;
  if (Array.isArray(value) || shapeOf(value).kind !== "tree") {
    return (
      <div className={BOX}>
        <ValueView value={visibleValue(value)} />
      </div>
    );
  }
  return (
    <dl className="divide-y divide-line rounded-lg border border-line bg-surface">
      {Object.entries(membersOf(value)).map(([name, shown]) => (
        <div key={name} className="grid gap-x-4 gap-y-1 px-4 py-2.5 sm:grid-cols-[10rem_1fr]">
          <dt className="text-sm text-muted [overflow-wrap:anywhere]">{visible(name)}</dt>
          <dd className="min-w-0">{member(name, shown, name)}</dd>
        </div>
      ))}
    </dl>
  );
}

const BOX = "rounded-lg border border-line bg-surface px-4 py-3";

/** A text that reads as Markdown is shown formatted, and on request as exactly the characters that will be sent. Hidden characters are visible. */
function Plain({ value }: { value: unknown }) {
  const t = useInboxTexts();
  const [plain, setPlain] = useState(false);
  if (typeof value === "boolean") return <p>{t(value ? "yes" : "no")}</p>;
  if (typeof value === "number") return <p className="tabular-nums">{value}</p>;
  if (typeof value !== "string" || !looksLikeMarkdown(value)) return <ValueView value={visibleValue(value)} />;
  const text = visible(value);
  return (
    <div className="flex flex-col gap-2">
      {plain ? (
        <div className="whitespace-pre-wrap break-words font-mono text-sm">{text}</div>
      ) : (
        <ValueView value={text} />
      )}
      <button type="button" className="self-start text-xs text-accent hover:underline" onClick={() => setPlain(!plain)}>
        {t(plain ? "formatted" : "as_text")}
      </button>
    </div>
  );
}
