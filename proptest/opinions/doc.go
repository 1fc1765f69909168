// Package opinions asks others what they make of the checks that are shipped, and keeps the answers in
// docs/OPINIONS.md: the second checker ([Second]), and Spin where a check can be exported ([Spin]). Whoever agrees
// has counted the same configurations and found the same claims violated. It must know nothing of how any of
// them comes to its answer. Start from [Page].
package opinions
