import { RotateCcw } from "lucide-react";
import { useState } from "react";
import { Button, cx, IconButton, Keys, Row } from "@/components/ui";
import { keysOf, type ShortcutId, useShortcutKeys } from "@/lib/shortcuts/shortcuts";
import { useSettingsTexts } from "../texts";
import { isOfBrowser, pressed, takenBy } from "./pressed";

/** One shortcut: its keys, and a button that takes the next keys that are pressed. */
export function ShortcutRow({ id }: { id: ShortcutId }) {
  const t = useSettingsTexts();
  const { changed, setKeys } = useShortcutKeys();
  const [listening, setListening] = useState(false);
  const [wanted, setWanted] = useState<string | null>(null);
  const keys = keysOf(id, changed);
  const owner = wanted ? takenBy(wanted, id, changed) : undefined;
  const name = t(`key_${id}`);
  const press = (event: React.KeyboardEvent) => {
    if (!listening || event.key === "Tab") return;
    event.preventDefault();
    event.stopPropagation();
    // React's event is let through to the window's shortcuts otherwise.
    event.nativeEvent.stopImmediatePropagation();
    if (event.key === "Escape") {
      setListening(false);
      return;
    }
    const found = pressed(event);
    if (!found) return;
    setListening(false);
    if (isOfBrowser(found) || takenBy(found, id, changed)) setWanted(found);
    else {
      setKeys(id, found);
      setWanted(null);
    }
  };
  return (
    <Row
      title={<span className="font-normal">{name}</span>}
      aside={
        <>
          {changed[id] !== undefined && (
            <IconButton size="sm" label={t("reset_what", { what: name })} onClick={() => setKeys(id, null)}>
              <RotateCcw />
            </IconButton>
          )}
          <button
            type="button"
            aria-pressed={listening}
            className={cx(
              "inline-flex h-7 min-w-28 items-center justify-center rounded-md border px-2 text-sm",
              listening
                ? "border-focus bg-accent-soft text-accent"
                : "border-line-strong bg-surface hover:border-faint",
            )}
            onClick={() => setListening(true)}
            onBlur={() => setListening(false)}
            onKeyDown={press}
          >
            <span className="sr-only">{t("keys_for", { what: name })} </span>
            {listening ? t("press_keys") : keys ? <Keys keys={keys} /> : t("no_keys_set")}
          </button>
        </>
      }
    >
      {wanted && (
        <div role="alert" className="mt-2 flex flex-wrap items-center gap-2 text-sm text-warn">
          <Keys keys={wanted} />
          {owner ? t("keys_taken", { what: t(`key_${owner}`) }) : t("keys_of_browser")}
          {owner && (
            <Button
              size="sm"
              onClick={() => {
                setKeys(owner, "");
                setKeys(id, wanted);
                setWanted(null);
              }}
            >
              {t("take_keys")}
            </Button>
          )}
          <Button size="sm" kind="ghost" onClick={() => setWanted(null)}>
            {t("cancel")}
          </Button>
        </div>
      )}
    </Row>
  );
}
