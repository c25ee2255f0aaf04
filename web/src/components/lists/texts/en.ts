export default {
  selected_one: "{{count}} selected",
  selected_other: "{{count}} selected",
  clear: "Clear selection",
};
