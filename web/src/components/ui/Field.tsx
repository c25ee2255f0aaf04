import { type ComponentProps, type ReactNode, useId } from "react";
import { cx } from "./cx";

const BOX =
  "fills rounded-md border border-line-strong bg-surface px-2.5 text-base text-ink placeholder:text-faint transition-colors hover:border-faint disabled:opacity-60 aria-invalid:border-bad";

export function Input({ className, ...rest }: ComponentProps<"input">) {
  return <input {...rest} className={cx(BOX, "h-8", className)} />;
}

export function Textarea({ className, ...rest }: ComponentProps<"textarea">) {
  return (
    <textarea rows={3} {...rest} className={cx(BOX, "field-sizing-content max-h-80 min-h-16 py-1.5", className)} />
  );
}

interface FieldProps {
  label: ReactNode;
  help?: ReactNode;
  error?: string | null | undefined;
  required?: boolean;
  /** Beside the label, at its right: a button, a count. */
  aside?: ReactNode;
  /** Gets the ids that tie the control to its label, help and error. */
  children: (control: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => ReactNode;
}

/** A labelled control with its help and what is wrong with it. */
export function Field({ label, help, error, required, aside, children }: FieldProps) {
  const id = useId();
  const about = error || help ? `${id}-about` : undefined;
  return (
    <div className="flex flex-col gap-1">
      <div className="flex min-h-5 items-center gap-2">
        <label htmlFor={id} className="text-sm font-medium text-ink">
          {label}
          {required && (
            <span aria-hidden className="ml-0.5 text-bad">
              *
            </span>
          )}
        </label>
        {aside && <div className="ml-auto">{aside}</div>}
      </div>
      {children({
        id,
        ...(about ? { "aria-describedby": about } : {}),
        ...(error ? { "aria-invalid": true as const } : {}),
      })}
      {about && (
        <p id={about} role={error ? "alert" : undefined} className={cx("text-xs", error ? "text-bad" : "text-muted")}>
          {error || help}
        </p>
      )}
    </div>
  );
}
