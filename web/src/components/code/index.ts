export { CodeEditor } from "./CodeEditor";
export type { CodeEditorProps, CodeLanguage, Diagnostic } from "./types";
