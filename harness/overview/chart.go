package overview

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/harness/report"
)

// Curve is a family of lines over one axis.
type Curve struct {
	Title, X, Y string
	Lines       []Line
	Bands       []Band
	// Steps draws values as they stay until the next one.
	Steps bool
}

// Line is one of them.
type Line struct {
	Name   string
	Points [][2]float64
}

// Band is an interval of the axis.
type Band struct {
	Name     string
	From, To float64
}

// readCurves reads the distribution of data in a run: a curve for each collection, with a line for
// each shard.
func readCurves(run, text string) ([]Curve, error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	var all []Curve
	for i, row := range rows {
		if i == 0 {
			continue // the names of the columns
		}
		at, err := strconv.ParseFloat(row[0], 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		documents, err := strconv.ParseFloat(row[3], 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		c := find(&all, func(c *Curve) bool { return c.Title == run+": "+row[1] })
		c.Title, c.X, c.Y, c.Steps = run+": "+row[1], "seconds of the run", "documents", true
		l := find(&c.Lines, func(l *Line) bool { return l.Name == row[2] })
		l.Name, l.Points = row[2], append(l.Points, [2]float64{at, documents})
	}
	return all, nil
}

// find is the element that matches, a new one if there is none.
func find[T any](all *[]T, matches func(*T) bool) *T {
	for i := range *all {
		if matches(&(*all)[i]) {
			return &(*all)[i]
		}
	}
	*all = append(*all, *new(T))
	return &(*all)[len(*all)-1]
}

// The size of a chart, and of the plot within.
const (
	chartWide, chartHigh    = 900, 240
	plotLeft, plotRight     = 64, 870
	plotTop, plotBottom     = 10, 205
	colours                 = 6
	mostPoints, ticksWanted = 1500, 5
)

// chart is a curve as it is drawn.
type chart struct {
	Curve
	Wide, High               int
	Left, Right, Top, Bottom int
	Paths                    []path
	XTicks, YTicks           []tick
	Areas                    []area
}

type path struct {
	Name, Points string
	Colour       int
}

type tick struct {
	At   float64
	Text string
}

type area struct {
	Name    string
	X, Wide float64
}

// draw lays a curve out.
func draw(c Curve) *chart {
	d := &chart{Curve: c, Wide: chartWide, High: chartHigh, Left: plotLeft, Right: plotRight,
		Top: plotTop, Bottom: plotBottom}
	fromX, toX, toY := c.extent()
	x := func(v float64) float64 {
		return round1(plotLeft + (v-fromX)/(toX-fromX)*(plotRight-plotLeft))
	}
	y := func(v float64) float64 { return round1(plotBottom - v/toY*(plotBottom-plotTop)) }
	for i, l := range c.Lines {
		var b strings.Builder
		before := 0.0
		for j, p := range thinned(l.Points) {
			if c.Steps && j > 0 {
				fmt.Fprintf(&b, "%g,%g ", x(p[0]), y(before))
			}
			fmt.Fprintf(&b, "%g,%g ", x(p[0]), y(p[1]))
			before = p[1]
		}
		d.Paths = append(d.Paths, path{l.Name, strings.TrimSpace(b.String()), i % colours})
	}
	wholeX, wholeY := c.whole(0), c.whole(1)
	for _, v := range ticks(fromX, toX, wholeX) {
		d.XTicks = append(d.XTicks, tick{x(v), numberText(v)})
	}
	for _, v := range ticks(0, toY, wholeY) {
		d.YTicks = append(d.YTicks, tick{y(v), numberText(v)})
	}
	for _, b := range c.Bands {
		from, to := x(max(b.From, fromX)), x(min(b.To, toX))
		d.Areas = append(d.Areas, area{b.Name, from, round1(max(1, to-from))})
	}
	return d
}

// extent is what of both axes is shown.
func (c *Curve) extent() (fromX, toX, toY float64) {
	fromX, toX = math.Inf(1), math.Inf(-1)
	for _, l := range c.Lines {
		for _, p := range l.Points {
			fromX, toX, toY = min(fromX, p[0]), max(toX, p[0]), max(toY, p[1])
		}
	}
	if math.IsInf(fromX, 1) {
		fromX, toX = 0, 1
	}
	if toX <= fromX {
		toX = fromX + 1
	}
	if toY <= 0 {
		toY = 1
	}
	return fromX, toX, toY * 1.05
}

// whole says that an axis has whole numbers only, such as nights: it gets no ticks between them.
func (c *Curve) whole(axis int) bool {
	return !slices.ContainsFunc(c.Lines, func(l Line) bool {
		return slices.ContainsFunc(l.Points, func(p [2]float64) bool {
			return p[axis] != math.Trunc(p[axis])
		})
	})
}

// thinned leaves points out where there are more than can be seen.
func thinned(points [][2]float64) [][2]float64 {
	if len(points) <= mostPoints {
		return points
	}
	var few [][2]float64
	for i := range mostPoints {
		few = append(few, points[i*(len(points)-1)/(mostPoints-1)])
	}
	return few
}

// ticks are round numbers between two values.
func ticks(from, to float64, whole bool) (all []float64) {
	step := math.Pow(10, math.Floor(math.Log10((to-from)/ticksWanted)))
	for _, more := range []float64{2, 2.5, 2} {
		if (to-from)/step > ticksWanted {
			step *= more
		}
	}
	if whole {
		step = max(step, 1)
	}
	for n := math.Ceil(from / step); n*step <= to; n++ {
		all = append(all, n*step)
	}
	return all
}

func numberText(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return commas(int(v))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func round1(v float64) float64 { return math.Round(v*10) / 10 }

// sortedLines brings lines into the order of their names.
func sortedLines(lines []Line) []Line {
	slices.SortFunc(lines, func(a, b Line) int { return cmp.Compare(a.Name, b.Name) })
	return lines
}

// SVG is the curve as a figure for another page of the same style.
func (c Curve) SVG() (template.HTML, error) {
	var b strings.Builder
	err := page.ExecuteTemplate(&b, "chart", draw(c))
	return template.HTML(b.String()), err
}

// Style is the style sheet of pages with such figures.
func Style() string { return report.Style() + pageCSS }
