// program.go - a pipeline's program in Go; examples/pipeline/README.md describes the protocol.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	"petal.example/petal"
)

func lines() (all petal.Strings) {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		all = append(all, in.Text())
	}
	return all
}

func ask(format, path string) error {
	filter, err := petal.Open(path, petal.FromFormat(format))
	if err != nil {
		return err
	}
	defer filter.Close()
	answers, err := filter.ContainsMany(lines())
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	for _, answer := range answers {
		digit := "0\n"
		if answer {
			digit = "1\n"
		}
		out.WriteString(digit)
	}
	return out.Flush()
}

func add(filter *petal.Filter, kind, value string) (err error) {
	switch kind {
	case "i64":
		number, wrong := strconv.ParseInt(value, 10, 64)
		if wrong != nil {
			return wrong
		}
		_, err = filter.AddInt64(number)
	case "f64":
		number, wrong := strconv.ParseFloat(value, 64)
		if wrong != nil {
			return wrong
		}
		_, err = filter.AddFloat64(number)
	default:
		_, err = filter.AddString(value)
	}
	return err
}

func build(path string) error {
	filter, err := petal.New(100_000, 0.01)
	if err != nil {
		return err
	}
	defer filter.Close()
	for _, line := range lines() {
		kind, value, _ := strings.Cut(line, "\t")
		if err := add(filter, kind, value); err != nil {
			return err
		}
	}
	return filter.Save(path)
}

func main() {
	err := fmt.Errorf("usage: program ask FORMAT FILE | build OUT")
	if len(os.Args) == 4 && os.Args[1] == "ask" {
		err = ask(os.Args[2], os.Args[3])
	} else if len(os.Args) == 3 && os.Args[1] == "build" {
		err = build(os.Args[2])
	}
	if err != nil {
		log.Fatal(err)
	}
}
