export default {
  title: "Assistant",
  close: "Close the assistant",
  open_panel: "Open the assistant",
};
