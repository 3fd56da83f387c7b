// main.go - Go, one key at a time: main KEYS FOLDER.
package main

import (
	"encoding/hex"
	"fmt"
	"log"
	"math"
	"os"
	"strconv"
	"strings"

	"petal.example/petal"
)

func unhex(value string) ([]byte, error) {
	if value == "-" {
		return nil, nil
	}
	return hex.DecodeString(value)
}

func has(filter *petal.Filter, kind, value string) (answer bool, native string, err error) {
	switch kind {
	case "i64":
		number, wrong := strconv.ParseInt(value, 10, 64)
		if wrong != nil {
			return false, "", wrong
		}
		answer, err = filter.ContainsInt64(number)
		return answer, fmt.Sprintf("%T", number), err
	case "f64":
		bits, wrong := strconv.ParseUint(value, 16, 64)
		if wrong != nil {
			return false, "", wrong
		}
		number := math.Float64frombits(bits)
		answer, err = filter.ContainsFloat64(number)
		return answer, fmt.Sprintf("%T", number), err
	}
	bytes, wrong := unhex(value)
	if wrong != nil {
		return false, "", wrong
	}
	if kind == "bytes" {
		answer, err = filter.Contains(bytes)
		return answer, "[]byte", err
	}
	answer, err = filter.ContainsString(string(bytes))
	return answer, "string", err
}

func ask(kind, keys, folder string) error {
	filter, err := petal.Open(folder + "/" + kind + ".petal")
	if err != nil {
		return err
	}
	defer filter.Close()
	digits, native := "", ""
	for _, line := range strings.Split(keys, "\n") {
		found, value, _ := strings.Cut(line, " ")
		if found != kind {
			continue
		}
		answer, name, err := has(filter, kind, value)
		if err != nil {
			return err
		}
		native = name
		if answer {
			digits += "1"
		} else {
			digits += "0"
		}
	}
	_, err = fmt.Printf("%s\t`%s`\t%s\n", kind, native, digits)
	return err
}

func main() {
	keys, err := os.ReadFile(os.Args[1])
	for _, kind := range []string{"text", "i64", "f64", "bytes"} {
		if err == nil {
			err = ask(kind, string(keys), os.Args[2])
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}
