import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { extensions, marks } from "./extensions";
import type { CodeEditorProps, Diagnostic } from "./types";

const NONE: readonly Diagnostic[] = [];

/** CodeMirror in React: made once, told of new values that did not come from it. */
export default function Editing({
  value,
  onChange,
  language,
  readOnly = false,
  diagnostics = NONE,
  ...rest
}: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const first = useRef(value);
  const changed = useRef(onChange);
  changed.current = onChange;
  const inserter = useRef(rest.onInserter);
  inserter.current = rest.onInserter;
  const { label, "aria-describedby": about, "aria-invalid": invalid } = rest;
  useEffect(() => {
    if (!place.current) return;
    const attributes: Record<string, string> = { "aria-label": label, "aria-readonly": String(readOnly) };
    if (about) attributes["aria-describedby"] = about;
    if (invalid) attributes["aria-invalid"] = "true";
    const told = EditorView.updateListener.of((update) => {
      if (!update.docChanged) return;
      first.current = update.state.doc.toString();
      changed.current?.(first.current);
    });
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({ doc: first.current, extensions: [extensions(language, readOnly, attributes), told] }),
    });
    // What scrolls is reached by keyboard, also where nothing can be written.
    if (readOnly) made.scrollDOM.tabIndex = 0;
    view.current = made;
    inserter.current?.((text) => {
      made.dispatch(made.state.replaceSelection(text));
      made.focus();
    });
    return () => made.destroy();
  }, [language, readOnly, label, about, invalid]);
  useEffect(() => {
    const now = view.current;
    if (!now || value === first.current) return;
    first.current = value;
    now.dispatch({ changes: { from: 0, to: now.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    const now = view.current;
    if (now) now.dispatch(marks(now, diagnostics));
  }, [diagnostics]);
  return (
    <div
      ref={place}
      className="[&_.cm-editor]:h-full [&_.cm-editor]:min-h-[inherit] [&_.cm-scroller]:overflow-auto min-h-[inherit] max-h-[inherit] [&_.cm-editor]:max-h-[inherit] [&_.cm-scroller]:min-h-[inherit]"
    />
  );
}
