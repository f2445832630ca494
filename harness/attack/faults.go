package attack

import (
	"strings"
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
)

var _ = declare(10, Kind{
	Name:  "kill",
	About: "SIGKILL; the process is started again when the fault ends",
	Aim:   AtNode, Ends: true,
	draw: func(d *drawing, f *scenario.Fault) {
		f.Target, f.For = d.role("node"), d.between("for", 0, 4*time.Second)
	},
})

var _ = declare(20, Kind{
	Name:  "kill-all",
	About: "SIGKILL to every process at once; all are started again when the fault ends",
	Aim:   AtAll, Ends: true,
	draw: func(d *drawing, f *scenario.Fault) {
		f.Target, f.For = "*", d.between("for", 0, time.Second)
	},
})

var _ = declare(30, Kind{
	Name:  "terminate",
	About: "SIGTERM: the process hands over and ends; it is started again when the fault ends",
	Aim:   AtNode, Ends: true,
	draw: func(d *drawing, f *scenario.Fault) {
		f.Target, f.For = d.role("node"), d.between("for", 500*time.Millisecond, 4*time.Second)
	},
})

var _ = declare(40, Kind{
	Name:  "stop",
	About: "SIGSTOP; the process goes on (SIGCONT) when the fault ends, knowing of nothing",
	Aim:   AtNode,
	draw: func(d *drawing, f *scenario.Fault) {
		f.Target, f.For = d.role("node"), d.between("for", 200*time.Millisecond, 6*time.Second)
	},
})

// StepDown is the kind that needs no hand on the servers: operators can ask for it.
const StepDown = "step-down"

var _ = declare(50, Kind{
	Name:  StepDown,
	About: "the primary of a replica set hands over, as replSetStepDown has it",
	Aim:   AtSet, Momentary: true,
	draw: func(d *drawing, f *scenario.Fault) {
		f.Target = d.one("set", "donor", "recipient", "config")
	},
})

var _ = declare(60, Kind{
	Name:  "take-over",
	About: "a member that does not lead campaigns at once, and deposes the primary",
	Aim:   AtSet, Momentary: true,
	draw: func(d *drawing, f *scenario.Fault) {
		f.Target = d.one("set", "donor", "recipient", "config")
	},
})

var _ = declare(70, Kind{
	Name:  "partition",
	About: "no byte passes between a node and all others, in one direction or both",
	Aim:   AtNode,
	Args: []Arg{
		wordArg("way", "which of its messages are lost", "both", "out", "in"),
		wordArg("how", "connections are cut, or bytes are held back until the end", "cut", "hold"),
	},
	draw: func(d *drawing, f *scenario.Fault) {
		f.Target, f.For = d.role("node"), d.between("for", 200*time.Millisecond, 6*time.Second)
		d.set(f, "way", d.one("way", "both", "both", "out", "in"))
		d.set(f, "how", d.one("how", "cut", "hold"))
	},
})

var _ = declare(80, Kind{
	Name:  "cut-link",
	About: "no byte passes from one node to another",
	Aim:   AtLink,
	Args: []Arg{
		wordArg("how", "connections are cut, or bytes are held back until the end", "cut", "hold"),
	},
	draw: func(d *drawing, f *scenario.Fault) {
		f.Target = d.link()
		f.For = d.between("for", 200*time.Millisecond, 6*time.Second)
		d.set(f, "how", d.one("how", "cut", "hold"))
	},
})

var _ = declare(90, Kind{
	Name:  "slow-link",
	About: "bytes from one node to another are late",
	Aim:   AtLink,
	Args:  []Arg{durationArg("delay", "how late each piece is", "100ms")},
	draw: func(d *drawing, f *scenario.Fault) {
		f.Target = d.link()
		f.For = d.between("for", time.Second, 8*time.Second)
		d.set(f, "delay", d.between("delay", 10*time.Millisecond, 900*time.Millisecond).String())
	},
})

var _ = declare(100, Kind{
	Name:  "cut-clients",
	About: "the connections of clients to a router are cut, with what is on the way",
	Aim:   AtNode,
	draw: func(d *drawing, f *scenario.Fault) {
		f.Target = "router." + string(rune('0'+d.n("router", d.p.Topology.Routers)))
		f.For = d.between("for", 0, time.Second)
	},
})

// sites are failpoints at which a stall or a crash meets a migration or what follows it.
var sites = []string{
	"donor.sendConfigCommit", "donor.configCommitReply", "donor.sendRecvCommit",
	"donor.afterRecvCommit", "donor.persistDecision.before", "donor.deleteRecipientTask",
	"donor.scanRecordIds", "donor.criticalSectionWritesBlocked", "recipient.recvStart",
	"recipient.cloneDone", "recipient.steadyFetch", "recipient.sessionApply",
	"recipient.betweenDeletesAndReloads", "recipient.enteredCriticalSection",
	"config.commit.lock", "config.commit.reply", "config.sendMove",
	"rangeDeleter.batch.before", "request.recheckBeforeCommit", "request.reply",
}

var _ = declare(110, Kind{
	Name:  "failpoint",
	About: "a failpoint of the server is on until the fault ends",
	Aim:   AtNode, Ends: true,
	Args: []Arg{
		textArg("site", "see `shardproof list failpoints`", sites[0]),
		textArg("terms", "what it does, see docs/live.md", "sleep(500)"),
	},
	draw: func(d *drawing, f *scenario.Fault) {
		f.For = d.between("for", 500*time.Millisecond, 5*time.Second)
		site := d.one("site", sites...)
		switch role, _, _ := strings.Cut(site, "."); role {
		case "recipient", "config":
			f.Target = role + ".primary"
		default:
			f.Target = "donor.primary"
		}
		d.set(f, "site", site)
		d.set(f, "terms", d.one("terms", "sleep(300)", "1*sleep(3000)", "1*return(\"crash\")",
			"1*sleep(6000)", "30%return(\"error=HostUnreachable\")"))
	},
})

var _ = declare(120, Kind{
	Name: "full-disk",
	About: "no file of the process may grow, as on a disk that is full; what it cannot store " +
		"ends it, and it is started again when the fault ends",
	Aim: AtNode, Ends: true,
	draw: func(d *drawing, f *scenario.Fault) {
		f.Target, f.For = d.replica("node"), d.between("for", 500*time.Millisecond, 3*time.Second)
	},
})

var _ = declare(130, Kind{
	Name: "clock",
	About: "the process is killed, and starts again with its wall clock wrong until the fault " +
		"ends, when it is killed and started with a right one",
	Aim: AtNode, Ends: true,
	Args: []Arg{durationArg("offset", "how far its clock is ahead", "1m")},
	draw: func(d *drawing, f *scenario.Fault) {
		f.Target, f.For = d.replica("node"), d.between("for", 3*time.Second, 10*time.Second)
		f.Args = nil
		d.set(f, "offset", d.one("offset", "30s", "-30s", "5m", "-5m", "1h"))
	},
})
