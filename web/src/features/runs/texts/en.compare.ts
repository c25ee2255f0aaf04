export default {
  comparing: "Comparing two runs",
  this_run: "This run",
  other_run: "Other run",
  only_here: "Only in this run",
  only_there: "Only in the other run",
  same_output: "Same output",
  changed_output: "Different output",
  difference: "Difference",
  stop_comparing: "Stop comparing",
  faster: "{{time}} faster",
  slower: "{{time}} slower",
  compare_with: "Compare with…",
};
