package live

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	pingcap "github.com/pingcap/failpoint"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
)

// Failpoints are those of the process: the registry of github.com/pingcap/failpoint, in which its
// GO_FAILPOINTS has put its own when the process started.

// switched are the sites whose failpoints are on. Most of the time it is nil, and passing a site
// costs one load.
var (
	switched  atomic.Pointer[map[failpoint.Site]bool]
	switching sync.Mutex
)

func failpointOn(site failpoint.Site) bool {
	on := switched.Load()
	return on != nil && (*on)[site]
}

// refreshFailpoints looks which failpoints are on. It runs when a node starts, as sites are
// declared while the program is initialised, and after every change.
func refreshFailpoints() {
	switching.Lock()
	defer switching.Unlock()
	on := make(map[failpoint.Site]bool)
	for _, name := range pingcap.List() {
		site, known := failpoint.Parse(name)
		if _, err := pingcap.Status(name); err == nil && known {
			on[site] = true
		}
	}
	if len(on) == 0 {
		switched.Store(nil)
		return
	}
	switched.Store(&on)
}

// effect is what a failpoint does to the task that passes it.
type effect struct {
	crash bool
	err   error
}

// evaluate evaluates a failpoint: as long as it sleeps or is paused, so long does this take.
func evaluate(site failpoint.Site) effect {
	value, err := pingcap.Eval(site.String())
	if err != nil || value == nil {
		return effect{}
	}
	text, _ := value.(string)
	word, code, named := strings.Cut(text, "=")
	switch {
	case text == "crash":
		return effect{crash: true}
	case word == "error" && named:
		return effect{err: errcode.New(errcode.Code(code), "failpoint %s is on", site)}
	}
	return effect{err: errcode.New(errcode.FailPointEnabled, "failpoint %s is on", site)}
}

// crash ends the process as kill -9 does.
var crash = func() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {}
}

// EnableFailpoint switches a failpoint of the process on, by terms such as `sleep(100)` or
// `1*return("crash")`. An error names an unknown site or what is wrong with the terms.
func EnableFailpoint(site, terms string) error {
	if _, known := failpoint.Parse(site); !known {
		return fmt.Errorf("there is no failpoint %q; `shardproof list failpoints` names them all",
			site)
	}
	defer refreshFailpoints()
	return pingcap.Enable(site, terms)
}

// DisableFailpoint switches a failpoint of the process off, and lets go on what it has paused.
func DisableFailpoint(site string) error {
	defer refreshFailpoints()
	return pingcap.Disable(site)
}

// Failpoints is the endpoint of github.com/pingcap/failpoint: PUT /SITE with terms switches a
// failpoint on, DELETE /SITE off, GET /SITE shows its terms, GET / those of all. Who can reach it
// can crash the process: it is for loopback.
func Failpoints() http.Handler {
	library := &pingcap.HttpHandler{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site := strings.TrimPrefix(r.URL.Path, "/")
		if _, known := failpoint.Parse(site); !known && site != "" {
			http.Error(w, fmt.Sprintf("there is no failpoint %q; `shardproof list failpoints` "+
				"names them all", site), http.StatusNotFound)
			return
		}
		library.ServeHTTP(w, r)
		refreshFailpoints()
	})
}
