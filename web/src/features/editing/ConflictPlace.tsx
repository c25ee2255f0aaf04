import { useId } from "react";
import type { Template } from "@/api/types";
import { DiffView } from "@/components/diff/DiffView";
import { cx } from "@/components/ui";
import type { ConflictItem, Document } from "@/lib/draft";
import { saidOf, titleOf } from "./sides";
import { useEditingTexts } from "./texts";

interface ConflictPlaceProps {
  item: ConflictItem;
  known: { document: Document; templates: Record<string, Template> };
  side: "mine" | "theirs";
  onChoose: (side: "mine" | "theirs") => void;
}

const LONG = 160;

/** One place with both its values side by side, one of them chosen. */
export function ConflictPlace({ item, known, side, onChoose }: ConflictPlaceProps) {
  const t = useEditingTexts();
  const name = useId();
  const said = { mine: saidOf(item, "mine", t, known), theirs: saidOf(item, "theirs", t, known) };
  const long = said.mine.length + said.theirs.length > LONG || `${said.mine}${said.theirs}`.includes("\n");
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm text-muted">{titleOf(item.place, t, known)}</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {(["mine", "theirs"] as const).map((one) => (
          <label
            key={one}
            className={cx(
              "flex cursor-pointer gap-2.5 rounded-md border p-2.5 has-focus-visible:outline-2 has-focus-visible:outline-focus",
              side === one ? "border-accent bg-accent-soft" : "border-line hover:border-line-strong",
            )}
          >
            <input
              type="radio"
              name={name}
              checked={side === one}
              onChange={() => onChoose(one)}
              className="mt-0.5 size-4 shrink-0 accent-accent outline-none"
            />
            <span className="min-w-0 flex-1">
              <span className="block text-sm font-medium">{t(one)}</span>
              <span className="line-clamp-6 whitespace-pre-wrap break-words text-sm text-muted">{said[one]}</span>
            </span>
          </label>
        ))}
      </div>
      {long && <DiffView before={said.mine} after={said.theirs} label={t("difference")} />}
    </fieldset>
  );
}
