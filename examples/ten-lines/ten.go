// ten.go - creates, saves, opens and queries a filter.
package main

import (
	"fmt"

	"petal.example/petal"
)

func main() {
	seen, err := petal.New(1_000_000, 0.01)
	must(err)
	seen.AddString("https://example.com/")
	fmt.Println(seen.ContainsString("https://example.org/"))
	must(seen.Save("seen.petal"))
	seen, err = petal.Open("seen.petal")
	must(err)
	fmt.Println(seen.ContainsString("https://example.com/"))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
