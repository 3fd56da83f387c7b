// program - the Go side of the pipeline; ../README.md says what it is asked to do.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"

	"petal.example/petal"
)

// each hands over the lines of the input, without their newlines.
func each(use func(line string) error) error {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err := use(strings.TrimSuffix(line, "\n")); err != nil {
			return err
		}
	}
}

func ask(format, path string) error {
	filter, err := petal.Open(path, petal.FromFormat(format))
	if err != nil {
		return err
	}
	defer filter.Close()
	out := bufio.NewWriter(os.Stdout)
	err = each(func(line string) error {
		found, err := filter.ContainsString(line)
		answer := "0\n"
		if found {
			answer = "1\n"
		}
		out.WriteString(answer)
		return err
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

func build(path string) error {
	var texts petal.Strings
	var integers petal.Int64s
	var fractions petal.Float64s
	err := each(func(line string) error {
		at := strings.IndexByte(line, '\t')
		if at < 0 {
			return fmt.Errorf("no type: %q", line)
		}
		kind, value := line[:at], line[at+1:]
		switch kind {
		case "text":
			texts = append(texts, value)
		case "i64":
			number, err := strconv.ParseInt(value, 10, 64)
			integers = append(integers, number)
			return err
		case "f64":
			number, err := strconv.ParseFloat(value, 64)
			fractions = append(fractions, number)
			return err
		default:
			return fmt.Errorf("unknown type: %q", line)
		}
		return nil
	})
	if err != nil {
		return err
	}
	filter, err := petal.New(100_000, 0.01)
	if err != nil {
		return err
	}
	defer filter.Close()
	for _, keys := range []petal.Keys{texts, integers, fractions} {
		if _, err := filter.AddMany(keys); err != nil {
			return err
		}
	}
	return filter.Save(path)
}

func main() {
	var err error
	switch {
	case len(os.Args) == 4 && os.Args[1] == "ask":
		err = ask(os.Args[2], os.Args[3])
	case len(os.Args) == 3 && os.Args[1] == "build":
		err = build(os.Args[2])
	default:
		err = errors.New("usage: program ask FORMAT FILE | build OUT")
	}
	if err != nil {
		log.Fatal(err)
	}
}
