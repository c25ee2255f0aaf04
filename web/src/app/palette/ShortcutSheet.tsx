import { Link } from "@tanstack/react-router";
import { PencilLine } from "lucide-react";
import { useState } from "react";
import { cx, Dialog, Input, Keys } from "@/components/ui";
import { usePalette } from "@/lib/commands/commands";
import { keysOf, SHORTCUTS, type Shortcut, shownKeys, useShortcutKeys } from "@/lib/shortcuts/shortcuts";
import { type AppText, useAppTexts } from "../texts";

const GROUPS = ["general", "canvas", "run", "assistant"] as const;

/** Every shortcut by group; those that somebody gave other keys are marked. */
export default function ShortcutSheet() {
  const t = useAppTexts();
  const { setSheet } = usePalette.getState();
  const changed = useShortcutKeys((state) => state.changed);
  const [typed, setTyped] = useState("");
  const shown = SHORTCUTS.filter((one) => matches(one, typed, t, keysOf(one.id, changed)));
  return (
    <Dialog
      open
      onOpenChange={setSheet}
      title={t("shortcuts")}
      size="lg"
      footer={
        <Link
          to="/settings/{-$section}"
          params={{ section: "shortcuts" }}
          onClick={() => setSheet(false)}
          className="mr-auto inline-flex h-8 items-center text-sm font-medium text-accent hover:underline"
        >
          {t("change_shortcuts")}
        </Link>
      }
    >
      <Input
        type="search"
        aria-label={t("find_shortcut")}
        placeholder={t("find_shortcut")}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        className="mb-4"
      />
      {shown.length === 0 && <p className="py-6 text-center text-muted">{t("no_command")}</p>}
      <div className="gap-x-10 sm:columns-2">
        {GROUPS.map((group) => {
          const rows = shown.filter((one) => one.group === group);
          if (rows.length === 0) return null;
          return (
            <section key={group} className={cx("mb-5", group !== "canvas" && "break-inside-avoid")}>
              <h3 className="mb-1 text-xs font-medium text-muted">{t(`group_${group}`)}</h3>
              <dl>
                {rows.map((one) => (
                  <div
                    key={one.id}
                    className="flex min-h-8 break-inside-avoid items-center gap-2 border-b border-line last:border-0"
                  >
                    <dt className="min-w-0 flex-1 truncate">{t(`key_${one.id}`)}</dt>
                    <dd className="flex items-center gap-2">
                      {changed[one.id] && (
                        <PencilLine role="img" aria-label={t("own_keys")} className="size-3.5 text-accent" />
                      )}
                      <Keys keys={keysOf(one.id, changed)} />
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          );
        })}
      </div>
      <p className="text-sm text-muted">{t("canvas_keys")}</p>
    </Dialog>
  );
}

function matches(one: (typeof SHORTCUTS)[number] & Shortcut, typed: string, t: AppText, keys: string): boolean {
  const words = `${t(`key_${one.id}`)} ${t(`group_${one.group}`)} ${shownKeys(keys).join(" ")} ${shownKeys(keys).join("+")}`;
  return words.toLowerCase().includes(typed.trim().toLowerCase());
}
