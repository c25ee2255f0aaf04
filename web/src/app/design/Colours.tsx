import { useAppearance } from "@/lib/appearance/appearance";
import { CLASSES, contrast, GROUNDS, KINDS, PORTS, TEXTS } from "./contrast";
import { Section } from "./Section";
import { useDesignTexts } from "./texts";

const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

/** A token as the browser paints it: a built page may write it in another notation. */
function value(token: string): string {
  if (!context) return "";
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(`--${token}`).trim();
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
  return `#${[red, green, blue].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

const TONES = ["accent", "ok", "warn", "bad", "info"] as const;
const measured = (text: string, ground: string) => contrast(value(text), value(ground)).toFixed(1);
const colour = (token: string) => ({ color: `var(--${token})` });
const ground = (token: string) => ({ backgroundColor: `var(--${token})` });

/** Every role on every ground that it is drawn on, with its contrast as it is now. */
export function Colours() {
  const t = useDesignTexts();
  // Read again when light becomes dark.
  useAppearance((state) => state.dark);
  return (
    <>
      <Section title={t("colours")} lead={t("colours_lead")}>
        <div className="grid gap-2 sm:grid-cols-2 xl:grid-cols-4">
          {GROUNDS.map((name) => (
            <div key={name} style={ground(name)} className="rounded-lg border border-line p-3">
              <p className="mb-2 text-2xs text-muted">{name}</p>
              {TEXTS.map((text) => (
                <p key={text} style={colour(text)} className="flex justify-between text-sm">
                  <span>{text}</span>
                  <span className="font-mono text-xs tabular-nums">{measured(text, name)}</span>
                </p>
              ))}
            </div>
          ))}
        </div>
        <div className="grid grid-cols-2 gap-2 sm:grid-cols-5">
          {TONES.map((tone) => (
            <p
              key={tone}
              style={{ ...ground(`${tone}-soft`), ...colour(tone) }}
              className="flex justify-between rounded-md px-3 py-2 text-sm"
            >
              <span>{tone}-soft</span>
              <span className="font-mono text-xs tabular-nums">{measured(tone, `${tone}-soft`)}</span>
            </p>
          ))}
        </div>
      </Section>
      <Section title={t("ports")} lead={t("ports_lead")}>
        <ul className="flex flex-wrap gap-x-6 gap-y-2">
          {PORTS.map((port) => (
            <li key={port} className="flex items-center gap-2 text-sm">
              <span aria-hidden style={ground(`port-${port}`)} className="size-3 rounded-full" />
              {port}
              <span className="font-mono text-xs text-muted tabular-nums">{measured(`port-${port}`, "surface")}</span>
            </li>
          ))}
        </ul>
        <p className="text-sm text-muted">{t("kinds")}</p>
        <ul className="flex flex-wrap gap-x-6 gap-y-2">
          {KINDS.map((kind) => (
            <li key={kind} className="flex items-center gap-2 text-sm">
              <span aria-hidden style={ground(`kind-${kind}`)} className="size-3 rounded-sm" />
              {kind}
              <span className="font-mono text-xs text-muted tabular-nums">{measured(`kind-${kind}`, "surface")}</span>
            </li>
          ))}
        </ul>
        <p className="text-sm text-muted">{t("classes")}</p>
        <ul className="flex flex-wrap gap-4">
          {CLASSES.map((name, level) => (
            <li key={name} style={colour(name)} className="text-sm font-semibold">
              K{level} <span className="font-mono text-xs">{measured(name, "surface")}</span>
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}
