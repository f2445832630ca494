package catalog

import "testing"

// What servers keep for themselves is told from what clients may have beside it.
func TestIsInternal(t *testing.T) {
	for ns, want := range map[string]bool{
		"config": true, "config.settings": true, "config.transactions": true, "local.docs": true,
		"admin.system.version": true, Sessions: false, "admin": false, "admin.docs": false,
		"test.docs": false, "configs.docs": false,
	} {
		if IsInternal(ns) != want {
			t.Errorf("%s: internal is %t", ns, !want)
		}
	}
}
