import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { cx } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { insertReference } from "@/lib/wiring";
import { aimAt, leave } from "./insertion";
import { FaultList, MarkedText, useReferenceFaults } from "./MarkedText";
import type { ControlIds } from "./types";
import { VariablePicker } from "./VariablePicker";

interface TextBoxProps extends ControlIds {
  value: string;
  onChange: (value: string) => void;
  label: string;
  placeholder?: string;
  /** Several lines; otherwise Enter writes none, and Shift+Enter does. */
  multiline?: boolean;
  mono?: boolean;
  rows?: number;
  disabled?: boolean;
}

const LOOK = "block w-full whitespace-pre-wrap break-words px-2.5 py-1.25 text-base";

/** Text of a node that may hold `{{...}}`: marked where it stands, inserted with the `{ }` button or by typing `{{`. */
export function VariableTextBox({ nodeId, ...rest }: TextBoxProps & { nodeId: string }) {
  const faults = useReferenceFaults(rest.value, nodeId);
  const editable = useDraft((state) => state.editable);
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const cursor = useRef<[number, number] | null>(null);
  const remember = () => {
    const { current } = box;
    if (current) cursor.current = [current.selectionStart, current.selectionEnd];
  };
  const pick = (path: string) => {
    const [from, to] = cursor.current ?? [rest.value.length, rest.value.length];
    const { text, at } = insertReference(rest.value, from, to, path);
    rest.onChange(text);
    cursor.current = [at, at];
    setOpen(false);
  };
  const back = () => {
    const [from, to] = cursor.current ?? [0, 0];
    box.current?.focus();
    requestAnimationFrame(() => box.current?.setSelectionRange(from, to));
  };
  const change = (value: string) => {
    rest.onChange(value);
    remember();
    if (box.current && value.slice(0, box.current.selectionStart).endsWith("{{")) setOpen(true);
  };
  const inserted = (path: string) => {
    pick(path);
    back();
  };
  const latest = useRef(inserted);
  useEffect(() => {
    latest.current = inserted;
  });
  const [target] = useState(() => ({ nodeId, insert: (path: string) => latest.current(path) }));
  useEffect(() => () => leave(target), [target]);
  const behind = rest.value.includes("{{") && <MarkedText text={rest.value} faults={faults} />;
  return (
    <div className="flex flex-col gap-1">
      <Box
        {...rest}
        disabled={rest.disabled || !editable}
        box={box}
        behind={behind}
        onChange={change}
        onSelect={remember}
        onFocus={() => aimAt(target)}
      >
        {editable && (
          <VariablePicker nodeId={nodeId} open={open} onOpenChange={setOpen} onPick={pick} onClosed={back} />
        )}
      </Box>
      {/* What the server says of the field is said below it: not twice. */}
      {!rest["aria-invalid"] && <FaultList faults={faults} />}
    </div>
  );
}

/** Text that is taken as it is written. */
export function PlainTextBox(props: TextBoxProps) {
  return <Box {...props} />;
}

interface BoxProps extends TextBoxProps {
  box?: React.Ref<HTMLTextAreaElement>;
  behind?: React.ReactNode;
  onSelect?: () => void;
  onFocus?: () => void;
  children?: React.ReactNode;
}

function Box({ value, onChange, label, multiline, mono, rows, behind, children, onSelect, box, ...rest }: BoxProps) {
  const back = useRef<HTMLDivElement>(null);
  const noLine = (event: KeyboardEvent) => {
    if (!multiline && event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing)
      event.preventDefault();
  };
  const look = cx(LOOK, mono && "font-mono text-sm", multiline ? "min-h-16" : "min-h-7.5");
  return (
    <div
      className={cx(
        "flex items-start rounded-md border bg-surface transition-colors focus-within:border-focus focus-within:ring-1 focus-within:ring-focus",
        rest["aria-invalid"] ? "border-bad" : "border-line-strong hover:border-faint",
        rest.disabled && "opacity-60",
      )}
    >
      <div className="relative min-w-0 flex-1">
        {behind && (
          <div ref={back} aria-hidden className={cx(look, "absolute inset-0 overflow-hidden text-transparent")}>
            {behind}
          </div>
        )}
        <textarea
          {...rest}
          ref={box}
          aria-label={rest.id ? undefined : label}
          rows={rows ?? (multiline ? 3 : 1)}
          value={value}
          spellCheck={!mono}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={noLine}
          onSelect={onSelect}
          onScroll={(event) => {
            if (back.current) back.current.scrollTop = event.currentTarget.scrollTop;
          }}
          className={cx(
            look,
            "field-sizing-content relative max-h-80 resize-none bg-transparent outline-none placeholder:text-faint",
          )}
        />
      </div>
      {children && <div className="shrink-0 p-0.75">{children}</div>}
    </div>
  );
}
