export default {
  choose_file: "Drop a file here, or choose one",
  choose_files: "Drop files here, or choose them",
  drop_now: "Let go to add",
  wrong_kind: "{{name}} is not of a kind that fits here",
  size_limit: "Up to {{size}} each",
  remove: "Remove {{name}}",
  cancel: "Cancel the upload of {{name}}",
  uploading: "{{name}} is uploading",
  too_large: "{{name}} is {{size}}; files may be up to {{limit}}.",
  a_file: "the file",
  retry: "Try again",
  download: "Download {{name}}",
};
