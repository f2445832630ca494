// Package env stands for the world of the toy.
package env

// Task is a thread of control.
type Task struct{ Waited, Told int }

// Note says more.
type Note struct{ ID string }

// Point announces a site.
func (t *Task) Point(site string, n Note) error { t.Told++; return nil }

// Wait waits for a majority.
func (t *Task) Wait() error { t.Waited++; return nil }

// Emit only reports.
func (t *Task) Emit(what string) { t.Told++ }
