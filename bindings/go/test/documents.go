//go:build ignore

// documents FILE... - writes a Go test from the examples in these documents. Each block of Go code,
// with the output that follows it, becomes an Example.
package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	var body strings.Builder
	count := 0
	for _, path := range os.Args[1:] {
		text, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		blocks := strings.Split(string(text), "```go\n")[1:]
		if len(blocks) == 0 {
			panic(path + " has no example")
		}
		for _, block := range blocks {
			code := block[:strings.Index(block, "```")]
			if !strings.Contains(code, "// Output:") {
				panic(path + ": no output: " + code)
			}
			count++
			fmt.Fprintf(&body, "\n// %s\nfunc Example_document%d() {\n%s}\n", path, count, code)
		}
	}
	fmt.Print("package project\n\nimport (\n")
	for _, name := range []string{"errors", "fmt", "io/fs", "log"} {
		if strings.Contains(body.String(), name[strings.LastIndexByte(name, '/')+1:]+".") {
			fmt.Printf("\t%q\n", name)
		}
	}
	fmt.Print("\n\t\"petal.example/petal\"\n)\n", body.String())
}
