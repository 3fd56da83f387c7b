// interop.go - implements the command language of interop.sh for the drivers in Go. Each driver
// connects it to a library.
package main

import (
	"bufio"
	"encoding/hex"
	"log"
	"os"
	"strconv"
	"strings"
)

type driver interface {
	create(n uint, p float64)
	read(data []byte)
	write() []byte
	add(key any)
	has(key any) bool
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// text: string, i32: int32, i64: int64, hex: []byte
func keyOf(text, kind string) any {
	switch kind {
	case "i32":
		v, err := strconv.ParseInt(text, 10, 32)
		check(err)
		return int32(v)
	case "i64":
		v, err := strconv.ParseInt(text, 10, 64)
		check(err)
		return v
	case "hex":
		v, err := hex.DecodeString(text)
		check(err)
		return v
	}
	return text
}

func eachKey(path, kind string, use func(key any)) {
	data, err := os.ReadFile(path)
	check(err)
	for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		use(keyOf(line, kind))
	}
}

func load(d driver, path string) {
	data, err := os.ReadFile(path)
	check(err)
	d.read(data)
}

// os.Args: PROGRAM VERB FORMAT TYPE ...
func run(d driver) {
	verb, kind, rest := os.Args[1], os.Args[3], os.Args[4:]
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	switch verb {
	case "make":
		n, err := strconv.ParseUint(rest[1], 10, 64)
		check(err)
		p, err := strconv.ParseFloat(rest[2], 64)
		check(err)
		d.create(uint(n), p)
		eachKey(rest[0], kind, d.add)
		check(os.WriteFile(rest[3], d.write(), 0o644))
	case "add":
		load(d, rest[0])
		eachKey(rest[1], kind, d.add)
		check(os.WriteFile(rest[2], d.write(), 0o644))
	case "ask":
		load(d, rest[0])
		eachKey(rest[1], kind, func(key any) {
			answer := "0\n"
			if d.has(key) {
				answer = "1\n"
			}
			out.WriteString(answer)
		})
	default:
		log.Fatal("make, add or ask")
	}
}
