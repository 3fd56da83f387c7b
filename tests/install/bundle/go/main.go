// Queries the bundled library for a key that was added and for a key that was not.
package main

import (
	"fmt"

	"bundled/petal"
)

func main() {
	fmt.Println(petal.Ask("https://example.com/", "https://example.com/"), petal.Ask("https://example.com/", "other"))
}
