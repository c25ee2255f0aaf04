import { useState } from "react";
import { Button } from "@/components/ui";
import { Section } from "./Section";
import { useDesignTexts } from "./texts";

const SIZES = ["text-2xs", "text-xs", "text-sm", "text-base", "text-lg", "text-xl", "text-2xl", "text-3xl"];
const RADII = ["rounded-sm", "rounded-md", "rounded-lg", "rounded-xl"];
const SHADOWS = ["shadow-low", "shadow-card", "shadow-float", "shadow-modal"];
const SPACES = ["w-1", "w-2", "w-3", "w-4", "w-6", "w-8", "w-12"];
const MOTIONS = ["animate-fade", "animate-rise", "animate-slide"];

export function Shapes() {
  const t = useDesignTexts();
  const [turn, setTurn] = useState(0);
  return (
    <>
      <Section title={t("type")} lead={t("type_lead")}>
        {SIZES.map((size) => (
          <p key={size} className="flex items-baseline gap-4">
            <code className="w-20 shrink-0 text-xs text-muted">{size}</code>
            <span className={`${size} truncate`}>{t("sample")}</span>
          </p>
        ))}
        <p className="font-mono text-sm">async def summarise(text: str) -&gt; str: ...</p>
      </Section>
      <Section title={t("shapes")}>
        <div className="flex flex-wrap gap-4">
          {RADII.map((name) => (
            <div
              key={name}
              className={`${name} flex h-16 w-28 items-end border border-line-strong bg-surface p-2 text-2xs text-muted`}
            >
              {name}
            </div>
          ))}
          {SHADOWS.map((name) => (
            <div key={name} className={`${name} flex h-16 w-28 items-end rounded-md bg-raised p-2 text-2xs text-muted`}>
              {name}
            </div>
          ))}
        </div>
        <div className="flex items-end gap-3">
          {SPACES.map((name) => (
            <div key={name} className="flex flex-col items-center gap-1 text-2xs text-muted">
              <div className={`${name} h-6 bg-accent`} />
              {name.slice(2)}
            </div>
          ))}
        </div>
      </Section>
      <Section title={t("motion")} lead={t("motion_lead")}>
        <div key={turn} className="flex flex-wrap gap-4">
          {MOTIONS.map((name) => (
            <div key={name} className={`${name} rounded-md border border-line bg-raised px-4 py-3 text-sm shadow-card`}>
              {name}
            </div>
          ))}
        </div>
        <div>
          <Button onClick={() => setTurn(turn + 1)}>{t("again")}</Button>
        </div>
      </Section>
    </>
  );
}
