package project

// Tests the example programs: compares dropin with the bits-and-blooms library, and dedupe with an
// exact set.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bits-and-blooms/bloom/v3"
	"project/example/dropin"
)

func TestDropinIsBitsAndBlooms(t *testing.T) {
	for _, rate := range []float64{0.1, 0.01} {
		theirs, ours := bloom.NewWithEstimates(2000, rate), dropin.NewWithEstimates(2000, rate)
		expect(t, theirs.Cap() == ours.Cap() && theirs.K() == ours.K(), "%d %d", ours.Cap(), ours.K())
		for i := 0; i < 2000; i++ {
			key := fmt.Sprintf("key-%d", i)
			if i%2 == 0 {
				theirs.AddString(key)
				ours.AddString(key)
			} else {
				expect(t, theirs.TestAndAdd([]byte(key)) == ours.TestAndAdd([]byte(key)), "%s", key)
			}
		}
		passed := 0
		for i := 0; i < 20_000; i++ {
			key := fmt.Sprintf("key-%d", i)
			expect(t, theirs.TestString(key) == ours.TestString(key), "%s", key)
			if i >= 2000 && ours.TestString(key) {
				passed++
			}
		}
		expect(t, passed > 50, "only %d false positives: it proves little", passed)

		var a, b bytes.Buffer
		must(theirs.WriteTo(&a))
		must(ours.WriteTo(&b))
		expect(t, bytes.Equal(a.Bytes(), b.Bytes()), "other bytes")
		expect(t, bytes.Equal(must(theirs.MarshalBinary()), must(ours.MarshalBinary())), "marshalled")
		var theirsRead bloom.BloomFilter
		must(theirsRead.ReadFrom(&b))
		expect(t, theirsRead.Equal(theirs), "they read another filter")
		var oursRead, oursJSON, oursBinary dropin.BloomFilter
		size := int64(a.Len())
		expect(t, must(oursRead.ReadFrom(&a)) == size && oursRead.Equal(ours), "read")
		fine(json.Unmarshal(must(json.Marshal(theirs)), &oursJSON))
		fine(oursBinary.UnmarshalBinary(must(theirs.MarshalBinary())))
		expect(t, oursJSON.Equal(ours) && oursBinary.Equal(ours), "JSON and binary")
		fine(json.Unmarshal(must(json.Marshal(ours)), &theirsRead))
		expect(t, theirsRead.Equal(theirs), "they read other JSON")

		more, copied := bloom.New(theirs.Cap(), theirs.K()), ours.Copy()
		oursMore := dropin.New(ours.Cap(), ours.K())
		for i := 0; i < 100; i++ {
			more.AddString(fmt.Sprintf("more %d", i))
			oursMore.AddString(fmt.Sprintf("more %d", i))
		}
		fine(theirs.Merge(more))
		fine(copied.Merge(oursMore))
		expect(t, bytes.Equal(must(theirs.MarshalBinary()), must(copied.MarshalBinary())), "merged")
		expect(t, !copied.Equal(ours) && ours.ClearAll().ApproximatedSize() == 0, "copied")
		expect(t, copied.ApproximatedSize() == theirs.ApproximatedSize(), "%d keys, %d",
			copied.ApproximatedSize(), theirs.ApproximatedSize())
	}
}

func TestDedupeRemembersLines(t *testing.T) {
	program := os.Getenv("PETAL_GO_DEDUPE")
	expect(t, program != "", "PETAL_GO_DEDUPE names no program; run.sh builds it")
	var lines []string
	for i := 0; i < 20_000; i++ {
		lines = append(lines, fmt.Sprintf("line %d", i*7919%12_000))
	}
	path := t.TempDir() + "/seen.petal"
	run := func(lines []string) []string {
		command := exec.Command(program, path)
		command.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
		command.Stderr = os.Stderr
		return strings.Split(strings.TrimSuffix(string(must(command.Output())), "\n"), "\n")
	}
	exact, first := map[string]bool{}, run(lines[:10_000])
	for _, line := range first {
		expect(t, !exact[line], "%s twice", line)
		exact[line] = true
	}
	second := run(lines)
	for _, line := range second {
		expect(t, !exact[line], "%s again", line)
		exact[line] = true
	}
	expect(t, len(first) > 9900 && len(exact) > 11_900, "%d, then %d lines", len(first), len(exact))
}
