// Asks the bundled library for a key that is in and for one that is not.
package main

import (
	"fmt"

	"bundled/petal"
)

func main() {
	fmt.Println(petal.Ask("https://example.com/", "https://example.com/"), petal.Ask("https://example.com/", "other"))
}
