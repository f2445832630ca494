package sweep

// columns says what each of the Kinds does that a sweep tries; the others are those of Anchors.
var columns = map[string]string{
	"crash":      "a node crashes without what it had not synced, and restarts",
	"crash-kept": "a node crashes, but all that it was writing has reached its disk",
	"stepdown":   "a primary steps down gracefully",
	"partition":  "a node is cut off from all others for a time",
	"pause":      "the task at the failpoint is paused for a time, while its node runs on",
	"error":      "the step at the failpoint fails with an error",
	"kill":       "an operator kills the operation at the failpoint",
	"lost":       "the message is lost",
	"lost-reply": "the request is executed, and the reply to it is lost",
	"duplicate":  "the message is delivered twice",
	"late":       "the message is delayed, and others overtake it",
	"slow-write": "the durable write takes long",
}

// About says what a kind of fault does; empty for one that no sweep tries.
func About(kind string) string { return columns[kind] }
