// packed HOST:PORT - batches with PETAL.MADDB and PETAL.MEXISTSB, using go-redis (docs/redis.md).
//
// A packed batch is one argument: a count, that many lengths (32 bits each, little-endian), and the
// items' bytes. The reply is a bitmap, with item i in bit i mod 8 of byte i / 8.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"os"

	"github.com/redis/go-redis/v9"
)

func pack(items []string) []byte {
	packed := make([]byte, 4+4*len(items))
	binary.LittleEndian.PutUint32(packed, uint32(len(items)))
	for i, item := range items {
		binary.LittleEndian.PutUint32(packed[4+4*i:], uint32(len(item)))
	}
	for _, item := range items {
		packed = append(packed, item...)
	}
	return packed
}

func answer(bitmap string, i int) bool { return bitmap[i/8]>>(i%8)&1 == 1 }

// Returns the number of items whose answer is 1.
func count(client *redis.Client, command string, items []string) int {
	bitmap, err := client.Do(context.Background(), command, "crawled", pack(items)).Text()
	if err != nil {
		log.Fatal(err)
	}
	sum := 0
	for i := range items {
		if answer(bitmap, i) {
			sum++
		}
	}
	return sum
}

func main() {
	client := redis.NewClient(&redis.Options{Addr: os.Args[1]})
	err := client.Do(context.Background(), "PETAL.RESERVE", "crawled", 0.01, 1000).Err()
	if err != nil {
		log.Fatal(err)
	}
	var urls, others []string
	for i := 0; i < 3000; i++ {
		urls = append(urls, fmt.Sprintf("https://a.example/%d", i))
		others = append(others, fmt.Sprintf("https://b.example/%d", i))
	}
	added := count(client, "PETAL.MADDB", urls)
	fmt.Printf("%d of %d were new; found %d, and %d others\n", added, len(urls),
		count(client, "PETAL.MEXISTSB", urls), count(client, "PETAL.MEXISTSB", others))
}
