export default {
  same: "No differences.",
  unchanged_one: "{{count}} unchanged line",
  unchanged_other: "{{count}} unchanged lines",
  added: "added:",
  removed: "removed:",
};
