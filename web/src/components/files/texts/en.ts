export default {
  choose_file: "Drop a file here, or choose one",
  choose_files: "Drop files here, or choose them",
  drop_now: "Drop to add",
  wrong_kind: "The file type of {{name}} is not accepted",
  size_limit: "Up to {{size}} each",
  remove: "Remove {{name}}",
  cancel: "Cancel the upload of {{name}}",
  uploading: "{{name}} is uploading",
  too_large: "{{name}} is {{size}}. The limit is {{limit}}.",
  a_file: "the file",
  retry: "Try again",
  download: "Download {{name}}",
};
