package env

// Exchange is a request and what became of it: as it is just being sent; as it has just arrived at
// its server; as the server has just answered it, whether the answer arrives or not; or as its
// caller has just learned. A world shows exchanges to those who judge nodes by what others see of
// them.
type Exchange struct {
	From, To NodeID
	// Task is the number of the task that asks or, while Arrived or Served is set, that answers: of
	// one node, no two have the same.
	Task           uint64
	Request, Reply Message
	Err            error
	// Sent is set when the request is sent, Arrived when it arrives; there is no answer yet. Served
	// is set when there is one, on the server's side. Began is when the request arrived there, in
	// true virtual time; on the caller's side, when it was sent.
	Sent, Arrived, Served bool
	Began                 Time
	// Mark is what a judge of the answer has set when the request arrived. The world only keeps it.
	Mark Mark
	// Wrote is the newest entry of its server's log that the task wrote which answers, or which asks
	// while Sent is set; 0 for none. WroteIn is its term.
	Wrote, WroteIn uint64
}

// Mark is what judges of an answer note of its server when the request arrives: the oldest state
// that it may read of its log, and the newest entry there; the term in which it was deposed without
// knowing, 0 when it was not; and the number by which they know the request again, 0 when they need
// not.
type Mark struct{ Applied, Newest, Deposed, Number uint64 }
