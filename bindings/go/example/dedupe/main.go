// dedupe [FILE] - copies each input line that is new in this run. If FILE is given, it remembers
// the lines of earlier runs as well. About 1 in 1,000 new lines is dropped by mistake.
package main

import (
	"bufio"
	"errors"
	"io/fs"
	"log"
	"os"

	"petal.example/petal"
)

func open(path string) (*petal.Filter, error) {
	if path != "" {
		f, err := petal.Open(path, petal.WithMode(petal.Load))
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return petal.New(100_000, 0.001, petal.WithGrowth(), petal.WithKeyType(petal.TextKeys))
}

func run(path string) error {
	seen, err := open(path)
	if err != nil {
		return err
	}
	defer seen.Close()
	lines, out := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
	for lines.Scan() {
		isNew, err := seen.Add(lines.Bytes())
		if err != nil {
			return err
		}
		if isNew {
			out.Write(lines.Bytes())
			out.WriteByte('\n')
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if err := out.Flush(); err != nil || path == "" {
		return err
	}
	return seen.Save(path) // only lines that were written are remembered
}

func main() {
	path := ""
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	if err := run(path); err != nil {
		log.Fatal(err)
	}
}
