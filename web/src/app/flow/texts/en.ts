export default {
  step_of: "Step of",
  back: "Settings of the node that runs this flow",
  open: "Open",
  changes: "You change the flow {{name}}. Its published version runs until you publish the changes there.",
  read_only: "You have read access to the flow {{name}}.",
  gone: "The draft of this flow no longer has this step.",
};
