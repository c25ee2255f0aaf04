import type { ComponentProps, ReactNode } from "react";
import { cx } from "./cx";
import { Spinner } from "./Spinner";

export type ButtonKind = "primary" | "secondary" | "ghost" | "danger";
type ButtonSize = "sm" | "md" | "lg";

const KINDS: Record<ButtonKind, string> = {
  primary: "bg-accent text-on-accent hover:bg-accent-hover shadow-low",
  secondary: "bg-raised text-ink border border-line-strong hover:bg-hover shadow-low",
  ghost: "text-muted hover:bg-hover hover:text-ink",
  danger: "bg-bad-soft text-bad border border-bad/40 hover:border-bad",
};
const SIZES: Record<ButtonSize, string> = {
  sm: "h-7 px-2 text-sm gap-1.5 [&_svg]:size-3.5",
  md: "h-8 px-3 text-base gap-2 [&_svg]:size-4",
  lg: "h-10 px-4 text-base gap-2 [&_svg]:size-4.5",
};

/** The look of a button, also for links. */
export const buttonLook = (kind: ButtonKind = "secondary", size: ButtonSize = "md") =>
  cx(
    "inline-flex shrink-0 select-none items-center justify-center whitespace-nowrap rounded-md font-medium transition-colors duration-100 disabled:opacity-50",
    KINDS[kind],
    SIZES[size],
  );

interface ButtonProps extends ComponentProps<"button"> {
  kind?: ButtonKind;
  size?: ButtonSize;
  icon?: ReactNode;
  /** Work goes on: shows it, and takes no second click. */
  busy?: boolean;
}

export function Button({ kind = "secondary", size = "md", icon, busy, className, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled || busy}
      aria-busy={busy || undefined}
      className={cx(buttonLook(kind, size), className)}
    >
      {busy ? <Spinner /> : icon}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ComponentProps<"button">, "aria-label" | "title"> {
  /** What it does; read out, and shown as a tooltip where it stands in a `Tip`. */
  label: string;
  kind?: ButtonKind;
  size?: ButtonSize;
  /** Pressed, for a button that keeps a state. */
  on?: boolean;
}

const SQUARES: Record<ButtonSize, string> = {
  sm: "size-7 [&_svg]:size-4",
  md: "size-8 [&_svg]:size-4.5",
  lg: "size-10 [&_svg]:size-5",
};

export function IconButton({ label, kind = "ghost", size = "md", on, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      aria-pressed={on}
      className={cx(
        "inline-flex shrink-0 items-center justify-center rounded-md transition-colors duration-100 disabled:opacity-40",
        KINDS[kind],
        SQUARES[size],
        on && "bg-accent-soft text-accent",
        className,
      )}
    />
  );
}
