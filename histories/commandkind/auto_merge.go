package commandkind

// AutoMerge: on or off: chunks of the namespace are merged without being asked for, or not.
const AutoMerge Name = "auto-merge"

var _ = Declare(145, AutoMerge, Namespace, OnOrOff)
