package process

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/live"
)

// serveAdmin opens the port of those who run the cluster: /status, /metrics, /failpoints/ and
// /debug/pprof/. What it returns closes it.
func (p *process) serveAdmin() (stop func(), err error) {
	if p.cfg.Admin == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", p.cfg.Admin)
	if err != nil {
		return nil, fmt.Errorf("%s cannot listen on its admin port: %w", p.cfg.Node, err)
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		_ = l.Close()
		return nil, fmt.Errorf("the admin port %s is not on loopback; who reaches it can crash "+
			"the process", p.cfg.Admin)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", p.serveStatus)
	mux.HandleFunc("GET /metrics", p.serveMetrics)
	mux.HandleFunc("POST /takeover", p.serveTakeover)
	mux.Handle("/failpoints/", http.StripPrefix("/failpoints", live.Failpoints()))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	server := &http.Server{Handler: fromLoopback(mux), ReadHeaderTimeout: 5 * time.Second,
		MaxHeaderBytes: 1 << 14}
	go func() { _ = server.Serve(l) }()
	return func() { _ = server.Close() }, nil
}

// serveTakeover has this member of a replica set campaign at once, even while another leads: a
// forced failover. It answers before the election has ended.
func (p *process) serveTakeover(w http.ResponseWriter, r *http.Request) {
	tried := false
	err := p.node.Run(r.Context(), "takeover", func(env.Task) {
		if m := p.cluster.Member(p.cfg.Node); m != nil {
			tried = true
			m.TakeOver()
		}
	})
	if err == nil && !tried {
		err = fmt.Errorf("%s is no member of a replica set, or has not booted", p.cfg.Node)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// fromLoopback refuses requests that a browser was led to send under another name.
func fromLoopback(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "this port is for loopback", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
		h.ServeHTTP(w, r)
	})
}

func (p *process) serveStatus(w http.ResponseWriter, r *http.Request) {
	s, err := p.status(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s)
}

func (p *process) serveMetrics(w http.ResponseWriter, r *http.Request) {
	s, err := p.status(r.Context())
	var text bytes.Buffer
	if err == nil {
		err = p.node.Run(r.Context(), "metrics", func(env.Task) { p.metrics.write(&text, s) })
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = text.WriteTo(w)
}
