export type CodeLanguage = "python" | "json" | "markdown" | "text";

/** Something wrong on a line, from 1. */
export interface Diagnostic {
  line: number;
  message: string;
  severity?: "error" | "warning" | "info";
}

export interface CodeEditorProps {
  value: string;
  onChange?: (value: string) => void;
  language: CodeLanguage;
  readOnly?: boolean;
  /** What it is, for who does not see it. */
  label: string;
  minLines?: number;
  maxLines?: number;
  diagnostics?: readonly Diagnostic[];
  /** Gets what puts a text where the cursor is, once there is an editor. */
  onInserter?: (insert: (text: string) => void) => void;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}
