//go:build ignore

// proxy FOLDER OUT - writes the module in FOLDER to OUT in the layout of a Go module proxy, for use
// with GOPROXY=file://OUT. Takes the version from petal.h.
package main

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func version(header string) string {
	var parts []string
	for _, name := range []string{"MAJOR", "MINOR", "PATCH"} {
		found := regexp.MustCompile("PETAL_VERSION_" + name + ` (\d+)`).FindStringSubmatch(header)
		parts = append(parts, found[1])
	}
	return "v" + strings.Join(parts, ".")
}

func main() {
	folder, out := os.Args[1], os.Args[2]
	manifest := must(os.ReadFile(folder + "/go.mod"))
	module := strings.Fields(string(manifest))[1]
	version := version(string(must(os.ReadFile(folder + "/internal/native/petal.h"))))
	out = filepath.Join(out, module, "@v")
	check(os.MkdirAll(out, 0o777))
	write := func(name, text string) {
		check(os.WriteFile(filepath.Join(out, name), []byte(text), 0o666))
	}
	write("list", version+"\n")
	write(version+".info", `{"Version":"`+version+`"}`)
	write(version+".mod", string(manifest))

	file := must(os.Create(filepath.Join(out, version+".zip")))
	archive := zip.NewWriter(file)
	check(filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := filepath.ToSlash(must(filepath.Rel(folder, path)))
		_, err = must(archive.Create(module + "@" + version + "/" + name)).Write(must(os.ReadFile(path)))
		return err
	}))
	check(archive.Close())
	check(file.Close())
}
