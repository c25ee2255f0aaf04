import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { markdown } from "@codemirror/lang-markdown";
import { python } from "@codemirror/lang-python";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap, type Diagnostic as Mark, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { nonce } from "@/lib/nonce";
import { theme } from "./theme";
import type { CodeLanguage, Diagnostic } from "./types";

const LANGUAGES: Record<CodeLanguage, () => Extension> = {
  python: () => [python(), indentUnit.of("    ")],
  json: () => [json(), indentUnit.of("  ")],
  markdown: () => markdown(),
  text: () => [],
};

/** What every editor of the page does. Esc, then Tab, leaves it: CodeMirror's own way out for the keyboard. */
export function extensions(language: CodeLanguage, readOnly: boolean, attributes: Record<string, string>): Extension {
  const numbered = language === "python" || language === "json";
  return [
    EditorView.cspNonce.of(nonce),
    EditorView.contentAttributes.of(attributes),
    EditorState.readOnly.of(readOnly),
    LANGUAGES[language](),
    theme,
    highlightSpecialChars(),
    drawSelection(),
    numbered ? [lineNumbers(), foldGutter(), lintGutter()] : EditorView.lineWrapping,
    bracketMatching(),
    readOnly ? [] : [history(), indentOnInput(), closeBrackets(), highlightActiveLine()],
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...lintKeymap,
      ...(readOnly ? [] : [indentWithTab]),
    ]),
  ];
}

/** Our findings by line, as the editor marks them; a line that is not there is the last. */
export function marks(view: EditorView, found: readonly Diagnostic[]) {
  const { doc } = view.state;
  const shown = found.map((one): Mark => {
    const line = doc.line(Math.min(Math.max(one.line, 1), doc.lines));
    const from = line.from + (line.text.length - line.text.trimStart().length);
    return { from: Math.min(from, line.to), to: line.to, severity: one.severity ?? "error", message: one.message };
  });
  return setDiagnostics(view.state, shown);
}
