export default {
  close: "Close",
  cancel: "Cancel",
  copy: "Copy",
  copied: "Copied",
  failed: "That did not work",
  offline: "No connection to the server",
  retry: "Try again",
  notification: "Notification",
  loading: "Loading",
  drop_files: "Drop files here, or choose",
  drop_file: "Drop a file here, or choose",
  remove: "Remove",
};
