export default {
  back_to: "Back to {{name}}",
  back_more:
    "Back to {{name}}, which runs the published version of this flow. Changes take effect once you publish them.",
};
