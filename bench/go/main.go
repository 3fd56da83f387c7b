// compare - compares Petal's Go module with bits-and-blooms: CPU time per key, the minimum of all
// rounds; each round runs every contender in turn. The program prints the ratio of these minima,
// and then the ratio by round: median (min..max). Above 1x, Petal is faster.
//
// A build without cgo prints only its own times, and the build with cgo runs it to print both
// builds' times in one table. A process can't contain both builds.
package main

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/bits-and-blooms/bloom/v3"
	"petal.example/petal"
)

const rate = 0.01

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func addresses(count int, from uint64) []string {
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("https://a.example/%015x", mix(from+uint64(i))>>4)
	}
	return keys
}

func numbers(count int, from uint64) []int64 {
	keys := make([]int64, count)
	for i := range keys {
		keys[i] = int64(mix(from + uint64(i)))
	}
	return keys
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// set is a filter together with a way to call it. ask counts the keys that pass.
type set interface {
	add(from, to int)
	ask(absent bool, from, to int) int
}

type keys struct {
	texts, absentTexts     []string
	numbers, absentNumbers []int64
}

type contender struct {
	name string
	make func(k *keys) set
}

// ---- Petal ----

type petalSet struct {
	f       *petal.Filter
	k       *keys
	answers []bool
}

func newPetal(k *keys) petalSet {
	f, err := petal.New(uint64(len(k.texts)), rate)
	check(err)
	return petalSet{f, k, make([]bool, len(k.texts))}
}

type petalEach struct{ petalSet }

func (s petalEach) add(from, to int) {
	for _, key := range s.k.texts[from:to] {
		_, err := s.f.AddString(key)
		check(err)
	}
}

func (s petalEach) ask(absent bool, from, to int) (found int) {
	list := s.k.texts
	if absent {
		list = s.k.absentTexts
	}
	for _, key := range list[from:to] {
		in, err := s.f.ContainsString(key)
		check(err)
		if in {
			found++
		}
	}
	return found
}

type petalBatch struct{ petalSet }

func (s petalBatch) add(from, to int) {
	_, err := s.f.AddMany(petal.Strings(s.k.texts[from:to]))
	check(err)
}

func (s petalSet) count(list petal.Keys) (found int) {
	answers := s.answers[:list.Len()]
	check(s.f.ContainsInto(answers, list))
	for _, in := range answers {
		if in {
			found++
		}
	}
	return found
}

func (s petalBatch) ask(absent bool, from, to int) int {
	if absent {
		return s.count(petal.Strings(s.k.absentTexts[from:to]))
	}
	return s.count(petal.Strings(s.k.texts[from:to]))
}

type petalNumber struct{ petalSet }

func (s petalNumber) add(from, to int) {
	for _, key := range s.k.numbers[from:to] {
		_, err := s.f.AddInt64(key)
		check(err)
	}
}

func (s petalNumber) ask(absent bool, from, to int) (found int) {
	list := s.k.numbers
	if absent {
		list = s.k.absentNumbers
	}
	for _, key := range list[from:to] {
		in, err := s.f.ContainsInt64(key)
		check(err)
		if in {
			found++
		}
	}
	return found
}

type petalNumbers struct{ petalSet }

func (s petalNumbers) add(from, to int) {
	_, err := s.f.AddMany(petal.Int64s(s.k.numbers[from:to]))
	check(err)
}

func (s petalNumbers) ask(absent bool, from, to int) int {
	if absent {
		return s.count(petal.Int64s(s.k.absentNumbers[from:to]))
	}
	return s.count(petal.Int64s(s.k.numbers[from:to]))
}

// pieces wraps a set, which then gets its keys in batches of `each`.
type pieces struct {
	set
	each int
}

func (s pieces) end(from, to int) int {
	if to-from > s.each {
		return from + s.each
	}
	return to
}

func (s pieces) add(from, to int) {
	for ; from < to; from = s.end(from, to) {
		s.set.add(from, s.end(from, to))
	}
}

func (s pieces) ask(absent bool, from, to int) (found int) {
	for ; from < to; from = s.end(from, to) {
		found += s.set.ask(absent, from, s.end(from, to))
	}
	return found
}

// ---- bits-and-blooms ----

type bloomEach struct {
	f *bloom.BloomFilter
	k *keys
}

func (s bloomEach) add(from, to int) {
	for _, key := range s.k.texts[from:to] {
		s.f.AddString(key)
	}
}

func (s bloomEach) ask(absent bool, from, to int) (found int) {
	list := s.k.texts
	if absent {
		list = s.k.absentTexts
	}
	for _, key := range list[from:to] {
		if s.f.TestString(key) {
			found++
		}
	}
	return found
}

type bloomNumber struct{ bloomEach }

// bits-and-blooms accepts bytes, so each call formats the number, as in its README.
func (s bloomNumber) add(from, to int) {
	bytes := make([]byte, 8)
	for _, key := range s.k.numbers[from:to] {
		binary.LittleEndian.PutUint64(bytes, uint64(key))
		s.f.Add(bytes)
	}
}

func (s bloomNumber) ask(absent bool, from, to int) (found int) {
	bytes, list := make([]byte, 8), s.k.numbers
	if absent {
		list = s.k.absentNumbers
	}
	for _, key := range list[from:to] {
		binary.LittleEndian.PutUint64(bytes, uint64(key))
		if s.f.Test(bytes) {
			found++
		}
	}
	return found
}

var contenders = []contender{
	{"petal, call", func(k *keys) set { return petalEach{newPetal(k)} }},
	{"petal, batches of 8", func(k *keys) set { return pieces{petalBatch{newPetal(k)}, 8} }},
	{"petal, batches of 64", func(k *keys) set { return pieces{petalBatch{newPetal(k)}, 64} }},
	{"petal, batch", func(k *keys) set { return petalBatch{newPetal(k)} }},
	{"petal int64, call", func(k *keys) set { return petalNumber{newPetal(k)} }},
	{"petal int64, batches of 8", func(k *keys) set { return pieces{petalNumbers{newPetal(k)}, 8} }},
	{"petal int64, batches of 64", func(k *keys) set { return pieces{petalNumbers{newPetal(k)}, 64} }},
	{"petal int64, batch", func(k *keys) set { return petalNumbers{newPetal(k)} }},
}

var others = []contender{
	{"bits-and-blooms, call", func(k *keys) set {
		return bloomEach{bloom.NewWithEstimates(uint(len(k.texts)), rate), k}
	}},
	{"bits-and-blooms int64, call", func(k *keys) set {
		return bloomNumber{bloomEach{bloom.NewWithEstimates(uint(len(k.texts)), rate), k}}
	}},
}

// ---- rounds ----

// times contains a contender's measurements, and the number of absent keys that passed.
type times struct{ add, in, absent, passed float64 }

func (t times) at(column string) float64 {
	return map[string]float64{"add": t.add, "in": t.in, "absent": t.absent}[column]
}

func cpu() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano() + usage.Stime.Nano())
}

func measure(c contender, k *keys) times {
	runtime.GC()
	n := len(k.texts)
	s := c.make(k)
	start := cpu()
	s.add(0, n)
	added := cpu()
	if found := s.ask(false, 0, n); found != n {
		panic(fmt.Sprintf("%s misses %d keys", c.name, n-found))
	}
	asked := cpu()
	passed := s.ask(true, 0, n)
	end := cpu()
	return times{(added - start) / float64(n), (asked - added) / float64(n),
		(end - asked) / float64(n), float64(passed) / float64(n)}
}

// wasm is the program without cgo: it measures one round for each line it receives.
type wasm struct {
	command *exec.Cmd
	ask     *bufio.Writer
	answers *bufio.Scanner
}

func startWasm(program string, count int) *wasm {
	command := exec.Command(program, "-serve", "-keys", fmt.Sprint(count))
	in, err := command.StdinPipe()
	check(err)
	out, err := command.StdoutPipe()
	check(err)
	command.Stderr = os.Stderr
	check(command.Start())
	return &wasm{command, bufio.NewWriter(in), bufio.NewScanner(out)}
}

func (w *wasm) measure(place int) (t times) {
	fmt.Fprintln(w.ask, place)
	check(w.ask.Flush())
	if !w.answers.Scan() {
		panic("the program without cgo ended")
	}
	_, err := fmt.Sscan(w.answers.Text(), &t.add, &t.in, &t.absent, &t.passed)
	check(err)
	return t
}

func serve(k *keys) {
	for {
		var place int
		if _, err := fmt.Scan(&place); err != nil {
			return
		}
		t := measure(contenders[place], k)
		fmt.Println(t.add, t.in, t.absent, t.passed)
	}
}

// ---- tables ----

type results map[string][]times

func (r results) least(name, column string) float64 {
	least := math.Inf(1)
	for _, t := range r[name] {
		least = math.Min(least, t.at(column))
	}
	return least
}

type goal struct {
	slower, faster string
	times          float64 // 0 if there is no goal
}

var goals = []goal{
	{"bits-and-blooms, call", "petal, call", 1},
	{"bits-and-blooms, call", "petal, batches of 8", 1},
	{"bits-and-blooms, call", "petal, batches of 64", 3},
	{"bits-and-blooms, call", "petal, batch", 5},
	{"petal, call", "petal, batch", 0},
	{"petal by wazero, batch", "petal, batch", 1.6},
	{"petal by wazero, call", "petal, call", 0},
	{"bits-and-blooms, call", "petal by wazero, batch", 0},
	{"bits-and-blooms int64, call", "petal int64, call", 1},
	{"bits-and-blooms int64, call", "petal int64, batches of 8", 2},
	{"bits-and-blooms int64, call", "petal int64, batches of 64", 8},
	{"bits-and-blooms int64, call", "petal int64, batch", 20},
	{"petal by wazero int64, batch", "petal int64, batch", 0},
}

func printRatios(r results) {
	fmt.Println("| times as fast as | | | of least times; by round | goal | |")
	fmt.Println("| --- | --- | --- | --- | --- | --- |")
	for _, goal := range goals {
		for _, column := range []string{"add", "in", "absent"} {
			slower, faster := r[goal.slower], r[goal.faster]
			if len(slower) == 0 || len(faster) == 0 {
				continue
			}
			var rounds []float64
			for i := range slower {
				rounds = append(rounds, slower[i].at(column)/faster[i].at(column))
			}
			sort.Float64s(rounds)
			least := r.least(goal.slower, column) / r.least(goal.faster, column)
			wanted, verdict := "", ""
			if goal.times > 0 {
				wanted, verdict = fmt.Sprintf("%.3gx", goal.times), "reached"
				if least < goal.times {
					verdict = "**missed**"
				}
			}
			fmt.Printf("| %s | %s | %s | %.2fx; %.2fx (%.2f..%.2f) | %s | %s |\n", goal.slower,
				goal.faster, column, least, rounds[len(rounds)/2], rounds[0], rounds[len(rounds)-1],
				wanted, verdict)
		}
	}
}

func about() string {
	model, load := "?", "?"
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for _, line := range strings.Split(string(data), "\n") {
			if strings.HasPrefix(line, "model name") {
				model = strings.TrimSpace(line[strings.IndexByte(line, ':')+1:])
			}
		}
	}
	if data, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = strings.Fields(string(data))[0]
	}
	return fmt.Sprintf("%s, %d CPUs, load average before %s; %s, petal %s", model, runtime.NumCPU(),
		load, runtime.Version(), petal.Version())
}

func main() {
	count := flag.Int("keys", 1_000_000, "how many")
	rounds := flag.Int("rounds", 7, "how many")
	versions := flag.String("versions", "", "of the other modules, to be printed")
	other := flag.String("wasm", "", "the program without cgo")
	serves := flag.Bool("serve", false, "measure what each line of the input names")
	flag.Parse()
	n := *count
	k := &keys{addresses(n, 0), addresses(n, 1<<32), numbers(n, 0), numbers(n, 1<<32)}
	if *serves {
		serve(k)
		return
	}
	machine, start := about(), time.Now()
	byWasm := startWasm(*other, n)
	found := results{}
	var order []string
	note := func(name string, t times) {
		if len(found[name]) == 0 {
			order = append(order, name)
		}
		found[name] = append(found[name], t)
	}
	for i := 0; i < *rounds; i++ {
		for _, c := range append(contenders, others...) {
			note(c.name, measure(c, k))
		}
		for place, c := range contenders {
			note(strings.Replace(c.name, "petal", "petal by wazero", 1), byWasm.measure(place))
		}
	}
	fmt.Printf("Measured %s, %s, %s; %d keys, %d rounds.\n\n", start.Format("2006-01-02"), machine,
		*versions, n, *rounds)
	fmt.Println("| CPU ns per key | rate | add | in | absent |")
	fmt.Println("| --- | --- | --- | --- | --- |")
	for _, name := range order {
		fmt.Printf("| %s | %.2f %% | %.1f | %.1f | %.1f |\n", name, found[name][0].passed*100,
			found.least(name, "add"), found.least(name, "in"), found.least(name, "absent"))
	}
	fmt.Println()
	printRatios(found)
}
