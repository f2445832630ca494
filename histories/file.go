package histories

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/shardproof/shardproof/histories/trace"
)

// The schemas of the files that this build writes; it reads no others.
const (
	HistorySchema = "shardproof.history/1"
	EventsSchema  = "shardproof.events/2"
)

// Header is the first line of a file: what it holds and of which run.
type Header struct {
	Schema string `json:"schema"`
	// Scenario names the run, Seed is its seed.
	Scenario string `json:"scenario,omitempty"`
	Seed     uint64 `json:"seed"`
	// Hash is the run's trace hash, when it has one.
	Hash string `json:"hash,omitempty"`
	// Dropped counts the records that were left out at the start to keep the file small.
	Dropped int `json:"dropped,omitempty"`
}

// FileError says why a file was refused, where, and what to do. Line counts from 1; 0 means the
// file as a whole.
type FileError struct {
	File   string
	Line   int
	Wrong  string
	Remedy string
	// Foreign is true of a file that is not shardproof's at all.
	Foreign bool
}

// Error is "file:line: what is wrong; what to do".
func (e *FileError) Error() string {
	place := e.File
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return place + ": " + e.Wrong + "; " + e.Remedy
}

// Record is what a file may hold, one a line.
type Record interface{ Op | trace.Event }

func schemaOf[T Record]() string {
	if _, ok := any(new(T)).(*Op); ok {
		return HistorySchema
	}
	return EventsSchema
}

// footer is the last line. Without it a file is truncated.
type footer struct {
	End     bool `json:"end"`
	Records int  `json:"records"`
}

// Writer writes one file: a header, a record a line, a footer; compressed with zstd. Equal records
// give equal bytes.
type Writer[T Record] struct {
	zip     *zstd.Encoder
	lines   *json.Encoder
	records int
}

// NewWriter writes the header; h.Schema is set by it.
func NewWriter[T Record](w io.Writer, h Header) (*Writer[T], error) {
	zip, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	out := &Writer[T]{zip: zip, lines: json.NewEncoder(zip)}
	out.lines.SetEscapeHTML(false)
	h.Schema = schemaOf[T]()
	return out, out.lines.Encode(h)
}

// Write appends one record.
func (w *Writer[T]) Write(record *T) error {
	w.records++
	return w.lines.Encode(record)
}

// Close writes the footer and flushes; it does not close the underlying writer.
func (w *Writer[T]) Close() error {
	err := w.lines.Encode(footer{End: true, Records: w.records})
	return errors.Join(err, w.zip.Close())
}

// Write writes a whole file of records.
func Write[T Record](w io.Writer, h Header, records []T) error {
	out, err := NewWriter[T](w, h)
	if err != nil {
		return err
	}
	for i := range records {
		if err := out.Write(&records[i]); err != nil {
			return err
		}
	}
	return out.Close()
}

// Reader reads one file record by record. It takes the compressed form and the plain one, so that a
// file can be unpacked, edited and read again.
type Reader[T Record] struct {
	Header Header
	// Most is how many bytes there may be, unpacked; 0 for any.
	Most int64

	file    string
	source  *source
	lines   *bufio.Reader
	bytes   int64
	long    []byte // a line that does not fit into the buffer of lines
	ops     opDecoder
	line    int
	records int
	done    bool
}

// longestLine is how many bytes a line may have: a hundred times what the longest list needs.
const longestLine = 64 << 20

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// NewReader reads the header. file stands for the source in errors, which are of type *FileError
// unless r fails.
func NewReader[T Record](file string, r io.Reader) (*Reader[T], error) {
	from := &source{Reader: r}
	in := bufio.NewReaderSize(from, 1<<16)
	if magic, _ := in.Peek(len(zstdMagic)); bytes.Equal(magic, zstdMagic) {
		zip, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxMemory(1<<30))
		if err != nil {
			return nil, err
		}
		in = bufio.NewReaderSize(zip, 1<<16)
	}
	reader := &Reader[T]{file: file, source: from, lines: in}
	return reader, reader.readHeader()
}

func (r *Reader[T]) readHeader() error {
	text, err := r.next()
	if err == io.EOF {
		return r.refuse("the file is empty", "give a history written by shardproof")
	}
	if err != nil {
		return err
	}
	want := schemaOf[T]()
	if json.Unmarshal(text, &r.Header) != nil || r.Header.Schema == "" {
		if bytes.HasPrefix(text, []byte("shardproof scenario ")) {
			return r.refuse("this is a scenario", "run it with `shardproof replay`")
		}
		return &FileError{
			File: r.file, Line: r.line, Wrong: "this is not a file of shardproof",
			Remedy: `the first line must be {"schema":"` + want + `",...}`, Foreign: true,
		}
	}
	if r.Header.Schema != want {
		return r.refuse(fmt.Sprintf("the file has schema %q and this build reads %q",
			r.Header.Schema, want),
			"read it with the build that wrote it, or record it again")
	}
	return nil
}

// next is the next line, valid up to the next call; io.EOF after the last.
func (r *Reader[T]) next() ([]byte, error) {
	r.line++
	text, err := r.lines.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		r.long = append(r.long[:0], text...)
		for err == bufio.ErrBufferFull && len(r.long) <= longestLine {
			text, err = r.lines.ReadSlice('\n')
			r.long = append(r.long, text...)
		}
		text = r.long
	}
	r.bytes += int64(len(text))
	switch {
	case len(text) > longestLine:
		return nil, r.refuse(fmt.Sprintf("the line has more than %d bytes", longestLine),
			"divide what it records into several operations")
	case r.Most > 0 && r.bytes > r.Most:
		return nil, r.refuse(fmt.Sprintf("the file has more than %d bytes, unpacked", r.Most),
			"allow more if you trust it, or record less")
	case err == nil || err == io.EOF && len(text) > 0:
		return text, nil
	case err == io.EOF:
		return nil, io.EOF
	case r.source.failed != nil:
		return nil, r.source.failed // which says nothing about the file
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, r.truncated()
	}
	return nil, r.refuse("the file is damaged: "+err.Error(),
		"take another copy or record it again")
}

func (r *Reader[T]) refuse(wrong, remedy string) error {
	return &FileError{File: r.file, Line: r.line, Wrong: wrong, Remedy: remedy}
}

func (r *Reader[T]) truncated() error {
	return r.refuse(fmt.Sprintf("the file is truncated after %d records", r.records),
		"take a complete copy or record it again")
}

// Read fills the record with the next one; io.EOF after the last.
func (r *Reader[T]) Read(record *T) error {
	if r.done {
		return io.EOF
	}
	text, err := r.next()
	if err == io.EOF {
		return r.truncated()
	}
	if err != nil {
		return err
	}
	if bytes.HasPrefix(text, []byte(`{"end":`)) {
		return r.finish(text)
	}
	if err := r.decode(text, record); err != nil {
		return r.undecodable(text, err)
	}
	r.records++
	return nil
}

func (r *Reader[T]) decode(text []byte, record *T) error {
	*record = *new(T)
	if op, ok := any(record).(*Op); ok {
		if r.ops.decode(text, op) {
			return nil
		}
		*op = Op{}
	}
	return strictly(text, record)
}

// strictly reads a line as encoding/json does, but for fields that nobody knows: to leave out what
// a misspelt one says would weaken the record.
func strictly(text []byte, record any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(record); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the record")
	}
	return nil
}

// undecodable tells a line cut in the middle, which is the last one and has no end, from a wrong
// one.
func (r *Reader[T]) undecodable(text []byte, err error) error {
	if !bytes.HasSuffix(text, []byte("\n")) {
		return r.truncated()
	}
	return r.refuse("the line is no record: "+err.Error(), "correct the line or record it again")
}

func (r *Reader[T]) finish(text []byte) error {
	var f footer
	if err := strictly(text, &f); err != nil {
		return r.undecodable(text, err)
	}
	if f.Records != r.records {
		return r.refuse(fmt.Sprintf("the file holds %d records and its last line says %d",
			r.records, f.Records),
			"correct the last line if you edited the file, or record it again")
	}
	switch _, err := r.next(); err {
	case io.EOF:
	case nil:
		return r.refuse("something follows the last line, which says that the file ends",
			"write every record above it")
	default:
		return err
	}
	r.done = true
	return io.EOF
}

// Read reads a whole file of records.
func Read[T Record](file string, r io.Reader) (Header, []T, error) {
	return ReadSized[T](file, r, Extent{})
}

// Extent is how large a source is and may be, in bytes; 0 stands for not known, and for any.
type Extent struct {
	// Size is that of the source as it is, packed or not: memory is then taken once, for as many
	// records as there should be by those read so far.
	Size int64
	// Most is how much it may be, unpacked; a larger one is refused.
	Most int64
}

// ReadSized is Read of a source of that extent.
func ReadSized[T Record](file string, r io.Reader, extent Extent) (Header, []T, error) {
	reader, err := NewReader[T](file, r)
	if err != nil {
		return Header{}, nil, err
	}
	reader.Most = extent.Most
	var records []T
	for {
		if len(records) == cap(records) {
			records = slices.Grow(records, expected(len(records), reader.source.bytes, extent.Size))
		}
		records = records[:len(records)+1]
		switch err := reader.Read(&records[len(records)-1]); err {
		case nil:
		case io.EOF:
			return reader.Header, records[:len(records)-1], nil
		default:
			return reader.Header, records[:len(records)-1], err
		}
	}
}

// fewRecords are too few to foresee anything by.
const fewRecords = 1 << 16

// expected is how many more records there should be after n, which took so many bytes of all; at
// least one. More are expected than the rule of three says: the last bytes wait in buffers, and
// growing again is dear, while memory that nobody touches is not.
func expected(n int, bytes, all int64) int {
	if n < fewRecords {
		return max(n, 16)
	}
	most := float64(n) / float64(bytes) * float64(all-bytes)
	return max(int(most*1.15), n/4)
}

// source counts the bytes that were read, and notes why no more can be.
type source struct {
	io.Reader
	bytes  int64
	failed error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.bytes += int64(n)
	if err != io.EOF {
		s.failed = err
	}
	return n, err
}

// ReadFile is Read of the file at that path.
func ReadFile[T Record](path string) (Header, []T, error) {
	f, err := os.Open(path)
	if err != nil {
		return Header{}, nil, err
	}
	defer f.Close()
	return ReadSized[T](path, f, Extent{Size: SizeOf(f)})
}

// SizeOf is how many bytes a file has, 0 for what is no file and may go on for ever.
func SizeOf(f *os.File) int64 {
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}
