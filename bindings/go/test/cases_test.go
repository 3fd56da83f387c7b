package project

// Runs the cases in vectors/bindings/cases.txt, which every binding must pass. They cover sizes,
// key hashes, false positives, and failures with the core's messages.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"petal.example/petal"
)

type choice struct {
	capacity uint64
	rate     float64
	options  []petal.Option
}

func chosen(words []string) choice {
	var c choice
	step, ratio := uint32(0), 0.0
	schemes := map[string]petal.Scheme{"blocked": petal.Blocked, "classic": petal.Classic,
		"counting": petal.Counting}
	for _, word := range words {
		at := strings.IndexByte(word, '=')
		name, value := word[:at], word[at+1:]
		var option petal.Option
		switch name {
		case "capacity":
			c.capacity = number(value)
		case "rate":
			c.rate = rate(value)
		case "scheme":
			option = petal.WithScheme(schemes[value])
		case "format":
			option = petal.WithFormat(value)
		case "memory":
			option = petal.WithMemory(number(value))
		case "bits":
			option = petal.WithBits(number(value))
		case "hashes":
			option = petal.WithHashes(uint32(number(value)))
		case "lines_per_key":
			option = petal.WithLinesPerKey(uint32(number(value)))
		case "seed":
			option = petal.WithSeed(number(value))
		case "secret":
			option = petal.WithSecret(unhex(value))
		case "grow":
			option = petal.WithGrowth()
		case "growth_step":
			step = uint32(number(value))
		case "growth_ratio":
			ratio = rate(value)
		case "window":
			option = petal.WithWindow(number(value))
		case "window_ms":
			option = petal.WithWindowTime(time.Duration(number(value)) * time.Millisecond)
		case "generations":
			option = petal.WithGenerations(uint32(number(value)))
		default:
			panic(word)
		}
		c.options = append(c.options, option)
	}
	if step != 0 || ratio != 0 {
		c.options = append(c.options, petal.WithGrowthStep(step, ratio))
	}
	return c
}

// cases splits each line into the words before the = and the text after it.
func cases(t *testing.T, verb string, each func(words []string, outcome string)) {
	found := 0
	for _, line := range strings.Split(string(must(os.ReadFile("vectors/bindings/cases.txt"))), "\n") {
		if !strings.HasPrefix(line, verb+" ") {
			continue
		}
		at := strings.Index(line, " = ")
		each(strings.Fields(line[:at])[1:], line[at+3:])
		found++
	}
	expect(t, found >= 5, "only %d cases of %s", found, verb)
}

func TestPlansHaveTheSizesOfTheCore(t *testing.T) {
	cases(t, "plan", func(words []string, outcome string) {
		c := chosen(words)
		plan := must(petal.Plan(c.capacity, c.rate, c.options...))
		said := fmt.Sprint(plan.Bits, plan.Hashes, plan.Bytes)
		expect(t, said == outcome, "%v: %s", words, said)
	})
}

func said(err error) string {
	var failed *petal.Error
	if !errors.As(err, &failed) {
		return fmt.Sprint(err)
	}
	return failed.Status.Error() + ": " + failed.Message
}

func TestWhatNoFilterCanBeIsRefusedInTheWordsOfTheCore(t *testing.T) {
	cases(t, "refuse", func(words []string, outcome string) {
		c := chosen(words)
		_, err := petal.New(c.capacity, c.rate, c.options...)
		expect(t, said(err) == outcome, "%v: %s", words, said(err))
		_, err = petal.Plan(c.capacity, c.rate, c.options...)
		expect(t, said(err) == outcome, "%v: %s", words, said(err))
	})
}

func TestKeysHaveTheHashesOfTheCore(t *testing.T) {
	f := must(petal.New(10, 0.01))
	cases(t, "hash", func(words []string, outcome string) {
		var keys petal.Keys
		switch words[0] {
		case "text":
			keys = petal.Strings{string(unhex(words[1]))}
		case "i64":
			keys = petal.Int64s{must(strconv.ParseInt(words[1], 10, 64))}
		default:
			bits := binary.BigEndian.Uint64(unhex(words[1]))
			keys = petal.Float64s{math.Float64frombits(bits)}
		}
		hash := fmt.Sprintf("%016x", must(f.HashMany(keys))[0])
		expect(t, hash == outcome, "%v: %s", words, hash)
	})
}

func TestFiltersErrAsTheCoreDoes(t *testing.T) {
	cases(t, "fill", func(words []string, outcome string) {
		c := chosen(words[3:])
		f := must(petal.New(c.capacity, c.rate, c.options...))
		added, passed := 0, 0
		for i := 0; i < integer(words[1])+integer(words[2]); i++ {
			yes := false
			add := i < integer(words[1])
			switch {
			case words[0] == "text" && add:
				yes = must(f.AddString(fmt.Sprintf("key-%d", i)))
			case words[0] == "text":
				yes = must(f.ContainsString(fmt.Sprintf("key-%d", i)))
			case words[0] == "i64" && add:
				yes = must(f.AddInt64(int64(i)))
			case words[0] == "i64":
				yes = must(f.ContainsInt64(int64(i)))
			case add:
				yes = must(f.AddFloat64(float64(i) / 2))
			default:
				yes = must(f.ContainsFloat64(float64(i) / 2))
			}
			if yes && add {
				added++
			} else if yes {
				passed++
			}
		}
		found := fmt.Sprintf("%d %d %016x", added, passed, must(f.ContentID()))
		expect(t, found == outcome, "%v: %s", words, found)
	})
}

func TestBrokenFilesAreRefusedInTheWordsOfTheCore(t *testing.T) {
	cases(t, "open", func(words []string, outcome string) {
		path := "vectors/" + words[len(words)-1]
		_, err := petal.Open(path, petal.FromFormat("petal"), petal.Verify())
		var failed *petal.Error
		expect(t, errors.As(err, &failed), "%s: %v", path, err)
		offset := "-"
		if failed.Offset >= 0 {
			offset = fmt.Sprint(failed.Offset)
		}
		status := strings.Join(words[:len(words)-1], " ")
		expect(t, failed.Status.Error() == status, "%s: %v", path, failed.Status)
		expect(t, failed.Message+" @ "+offset == outcome, "%s: %s @ %s", path, failed.Message, offset)
	})
}
