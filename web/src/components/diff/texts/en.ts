export default {
  same: "Both are the same.",
  unchanged_one: "{{count}} unchanged line",
  unchanged_other: "{{count}} unchanged lines",
  added: "added:",
  removed: "removed:",
};
