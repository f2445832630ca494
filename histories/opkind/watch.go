package opkind

// Watch: what a stream does from one opening to the next; histories have it, scenarios say
// stream.
const Watch Name = "watch"

var _ = declare(150, Watch, Kind{
	About: "what a stream does from one opening to the next; histories have it, scenarios say " +
		"stream",
	Shape: Streams,
})
