package bank

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/ci/mutation/testdata/toy/env"
)

func TestMove(t *testing.T) {
	t.Run("refuses what is not there", func(t *testing.T) {
		err := (&Bank{From: 1}).Move(&env.Task{}, 2)
		if err == nil || !strings.Contains(err.Error(), "not so much") {
			t.Errorf("moved: %v", err)
		}
	})
}
