package project

// Helper functions for all tests. The tests need the repository, with its vectors folder and the
// dev program.

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"petal.example/petal"
)

var secret = func() []byte {
	made := make([]byte, petal.SecretBytes)
	for i := range made {
		made[i] = byte(i)
	}
	return made
}()

// must panics if a call that must succeed returns an error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func fine(err error) {
	if err != nil {
		panic(err)
	}
}

func expect(t *testing.T, holds bool, format string, values ...any) {
	t.Helper()
	if !holds {
		t.Fatalf(format, values...)
	}
}

func isFailure(t *testing.T, err error, wanted error, what string) *petal.Error {
	t.Helper()
	if !errors.Is(err, wanted) {
		t.Fatalf("%s: %v, not %v", what, err, wanted)
	}
	var failed *petal.Error
	errors.As(err, &failed)
	return failed
}

// rows returns the words of each line that is not a comment.
func rows(path string) [][]string {
	var found [][]string
	for _, line := range strings.Split(string(must(os.ReadFile("vectors/"+path))), "\n") {
		if line != "" && line[0] != '#' {
			found = append(found, strings.Fields(line))
		}
	}
	return found
}

func unhex(text string) []byte {
	if text == "-" {
		return []byte{}
	}
	return must(hex.DecodeString(text))
}

func number(text string) uint64 { return must(strconv.ParseUint(text, 10, 64)) }
func integer(text string) int   { return int(number(text)) }
func rate(text string) float64  { return must(strconv.ParseFloat(text, 64)) }

func texts(format string, from, to int) petal.Strings {
	list := make(petal.Strings, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf(format, i))
	}
	return list
}

func integers(from, to int) petal.Int64s {
	list := make(petal.Int64s, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, int64(i))
	}
	return list
}

func image(f *petal.Filter) []byte { return must(f.Bytes("")) }

func count(answers []bool) (n int) {
	for _, answer := range answers {
		if answer {
			n++
		}
	}
	return n
}

// tool returns whether `petal check` finds each line in the filter.
func tool(t *testing.T, f *petal.Filter, lines []string, keyType string) []bool {
	t.Helper()
	path := t.TempDir() + "/asked.petal"
	fine(f.Save(path))
	run := exec.Command("petal", "check", "-n", "--key-type", keyType, path)
	run.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	var said bytes.Buffer
	run.Stderr = &said
	out, err := run.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatalf("petal check: %v: %s", err, said.String())
	}
	found := make([]bool, len(lines))
	for _, line := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		if at := strings.IndexByte(line, ':'); at > 0 {
			found[integer(line[:at])-1] = true
		}
	}
	return found
}

func same(a, b []bool) bool {
	return len(a) == len(b) && fmt.Sprint(a) == fmt.Sprint(b)
}
