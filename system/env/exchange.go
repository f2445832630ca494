package env

// Exchange is a request and what became of it: as its server has just answered it, whether the
// answer arrives or not; or as its caller has just learned. A world shows exchanges to those who
// judge nodes by what others see of them.
type Exchange struct {
	From, To       NodeID
	Request, Reply Message
	Err            error
	// Served is set on the server's side. Began is when the request arrived there, in true virtual
	// time; on the caller's side, when it was sent.
	Served bool
	Began  Time
}
