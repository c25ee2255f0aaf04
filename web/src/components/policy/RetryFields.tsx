import { useRef, useState } from "react";
import type { components } from "@/api/schema";
import { Field, Input, Select } from "@/components/ui";
import { ERROR_CODES } from "./errorCodes";
import { NumberBox } from "./NumberBox";
import { usePolicyTexts } from "./texts";

export type Retry = components["schemas"]["RetryPolicy"];

const BACKOFFS = ["exponential", "fixed"] as const;

interface RetryFieldsProps {
  retry: Retry;
  onChange: (retry: Retry) => void;
}

/** How often, how long after a failure, and after which errors a step is attempted again. */
export function RetryFields({ retry, onChange }: RetryFieldsProps) {
  const t = usePolicyTexts();
  const set = (change: Partial<Retry>) => onChange({ ...retry, ...change });
  const number = (name: "delay_seconds" | "max_delay_seconds", otherwise: number, most: number) => (
    <NumberBox
      label={t(name)}
      required
      value={retry[name] ?? otherwise}
      most={most}
      onChange={(value) => value !== null && set({ [name]: value })}
    />
  );
  return (
    <div className="flex flex-col gap-3 border-line border-l-2 pl-3">
      <div className="grid grid-cols-2 gap-3">
        <NumberBox
          label={t("max_attempts")}
          required
          whole
          least={2}
          most={50}
          value={retry.max_attempts}
          onChange={(value) => value !== null && set({ max_attempts: value })}
        />
        <Field label={t("backoff")}>
          {(control) => (
            <Select
              {...control}
              value={retry.backoff ?? "exponential"}
              options={BACKOFFS.map((one) => ({ value: one, label: t(`backoff_${one}`) }))}
              onChange={(backoff) => set({ backoff })}
            />
          )}
        </Field>
        {number("delay_seconds", 2, 86_400)}
        {number("max_delay_seconds", 300, 604_800)}
        <NumberBox
          label={t("jitter")}
          required
          most={100}
          value={Math.round((retry.jitter ?? 0.2) * 100)}
          onChange={(value) => value !== null && set({ jitter: value / 100 })}
        />
      </div>
      <Codes codes={retry.codes ?? []} onChange={(codes) => set({ codes })} />
    </div>
  );
}

const MOST_SHOWN = 6;

/** Known codes that contain the word that is being written, except those that are written already. */
function completions(text: string): string[] {
  const words = text.toLowerCase().split(/[^a-z0-9_*]+/);
  const written = words.pop() ?? "";
  if (written.length < 2) return [];
  return ERROR_CODES.filter((code) => code !== written && code.includes(written) && !words.includes(code))
    .sort((a, b) => Number(b.startsWith(written)) - Number(a.startsWith(written)))
    .slice(0, MOST_SHOWN);
}

function Codes({ codes, onChange }: { codes: string[]; onChange: (codes: string[]) => void }) {
  const t = usePolicyTexts();
  const [text, setText] = useState(codes.join(" "));
  const input = useRef<HTMLInputElement>(null);
  return (
    <Field label={t("codes")} help={t("codes_about")}>
      {(control) => (
        <>
          <Input
            {...control}
            ref={input}
            className="font-mono"
            spellCheck={false}
            placeholder="step_timeout model_rate_limited"
            value={text}
            onChange={(event) => setText(event.target.value)}
            onBlur={() => {
              const next = [...new Set(text.toLowerCase().match(/\*|[a-z][a-z0-9_]*/g) ?? [])];
              setText(next.join(" "));
              if (next.join(" ") !== codes.join(" ")) onChange(next);
            }}
          />
          <ul aria-label={t("codes_known")} className="mt-1.5 flex flex-wrap gap-1.5 empty:hidden">
            {completions(text).map((code) => (
              <li key={code}>
                <button
                  type="button"
                  className="rounded border border-line px-1.5 font-mono text-xs hover:border-line-strong"
                  onMouseDown={(event) => event.preventDefault()}
                  onClick={() => {
                    setText(`${text.replace(/[a-zA-Z0-9_]*$/, "")}${code} `);
                    input.current?.focus();
                  }}
                >
                  {code}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </Field>
  );
}
