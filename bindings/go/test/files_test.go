package project

// Tests files: every mode, saving, streams, and errors from the operating system.

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"petal.example/petal"
)

func saved(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "a.petal")
	fine(filled().Save(path))
	return path
}

// isWasm is true if files can't be mapped or locked, so calls that require this must fail.
var isWasm = petal.Backend == "wasm"

func TestReadOnlyFilesAnswerAndRefuse(t *testing.T) {
	path := saved(t)
	f := must(petal.Open(path))
	expect(t, must(f.ContainsAll(integers(0, 1000))) && f.Path() == path, "it does not answer")
	expect(t, must(f.Verify()) != isWasm, "verified")
	_, err := f.AddString("a")
	failed := isFailure(t, err, petal.ErrReadOnly, "AddString")
	expect(t, failed.Path == path, "%#v", failed)
	_, err = f.AddMany(petal.Strings{"a"})
	failed = isFailure(t, err, petal.ErrReadOnly, "AddMany")
	expect(t, failed.Path == path && failed.Offset == 0, "%#v", failed)
	writable := must(f.Clone())
	fine(f.Close())
	must(writable.AddString("a"))
}

func TestWritableFilesAreChangedInPlace(t *testing.T) {
	path := saved(t)
	f, err := petal.Open(path, petal.WithMode(petal.Writable))
	if isWasm {
		failed := isFailure(t, err, petal.ErrUnsupported, "Writable")
		expect(t, failed.Path == path, "%#v", failed)
		_, err = petal.Open(path, petal.WithMode(petal.Load), petal.Locked())
		isFailure(t, err, petal.ErrUnsupported, "Locked")
		return
	}
	must(f.AddString("a"))
	fine(f.Sync())
	_, err = petal.Open(path, petal.WithMode(petal.Writable))
	failed := isFailure(t, err, petal.ErrBusy, "two writers")
	expect(t, failed.Path == path, "%#v", failed)
	must(f.AddString("b"))
	live := must(petal.Open(path, petal.Live()))
	expect(t, must(live.ContainsString("a")) && must(live.Info()).Live, "not live")
	_, err = live.Bytes("")
	isFailure(t, err, petal.ErrBusy, "a live filter is copied")
	fine(live.Close())
	fine(f.Close())
	f = must(petal.Open(path, petal.Verify()))
	expect(t, must(f.ContainsAll(petal.Strings{"a", "b"})), "keys are lost")
	fine(f.Close())
	f = must(petal.Open(path, petal.WithMode(petal.Load), petal.Locked()))
	_, err = petal.Open(path, petal.WithMode(petal.Writable))
	isFailure(t, err, petal.ErrBusy, "locked")
	must(f.AddString("c"))
	fine(f.Save(path))
	fine(f.Close())
	expect(t, must(must(petal.Open(path)).ContainsString("c")), "c is lost")
}

func TestLoadedFiltersLeaveTheFileAlone(t *testing.T) {
	path := saved(t)
	before := must(os.ReadFile(path))
	f := must(petal.Open(path, petal.WithMode(petal.Load)))
	must(f.AddString("a"))
	fine(f.Close())
	expect(t, bytes.Equal(must(os.ReadFile(path)), before), "the file changed")
}

func TestWhatTheToolBuildsGoReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.petal")
	build := exec.Command("petal", "build", "-n", "100", "-o", path)
	build.Stdin = strings.NewReader("a\nb\nc\n")
	fine(build.Run())
	f := must(petal.Open(path))
	expect(t, must(f.ContainsAll(petal.Strings{"a", "b", "c"})), "keys are missing")
	expect(t, f.KeyType() == petal.TextKeys, "%v", f.KeyType())
	_, err := f.ContainsInt64(1)
	isFailure(t, err, petal.ErrKeyType, "an integer in a text filter")
}

func TestOtherFormatsByNameAndFoundOut(t *testing.T) {
	for _, format := range []string{"guava", "redisbloom", "cassandra", "pybloom",
		"bits-and-blooms"} {
		path := filepath.Join(t.TempDir(), format)
		f := must(petal.New(100, 0.01, petal.WithFormat(format)))
		must(f.AddMany(petal.Strings{"a", "b"}))
		fine(f.Save(path, petal.AsFormat(format)))
		read := must(petal.Open(path, petal.FromFormat(format)))
		expect(t, must(read.ContainsAll(petal.Strings{"a", "b"})), "%s: missing", format)
		expect(t, must(read.Info()).Format == format, "%s", must(read.Info()).Format)
		expect(t, must(f.Info()).FileFormat == "", "made in memory: %s", must(f.Info()).FileFormat)
		expect(t, must(read.Info()).FileFormat == format, "%s", must(read.Info()).FileFormat)
		within := must(must(petal.FromBytes(must(f.Bytes("")))).Info())
		expect(t, within.Format == format && within.FileFormat == "petal", "%v", within)
		names := petal.Recognize(must(os.ReadFile(path)))
		read, err := petal.Open(path)
		if len(names) == 1 {
			expect(t, err == nil && must(read.Info()).Format == names[0], "%s: %v", format, err)
		} else {
			failed := isFailure(t, err, petal.ErrArgument, format)
			expect(t, strings.Contains(failed.Message, format), "%v", failed)
		}
	}
}

func TestErrorsHaveErrnoPathAndWords(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	_, err := petal.Open(missing)
	failed := isFailure(t, err, petal.ErrIO, "missing")
	expect(t, errors.Is(err, fs.ErrNotExist) && errors.Is(err, syscall.ENOENT), "%v", err)
	expect(t, failed.Errno == syscall.ENOENT && failed.Path == missing && failed.Message != "" &&
		strings.Contains(err.Error(), missing), "%#v", failed)
	err = filled().Save(filepath.Join(missing, "in", "it"))
	isFailure(t, err, petal.ErrIO, "no folder")
	expect(t, errors.Is(err, fs.ErrNotExist), "%v", err)
	path := saved(t)
	err = filled().Save(path, petal.NoReplace())
	isFailure(t, err, petal.ErrExists, "NoReplace")
	fine(filled().Save(path+"2", petal.NoReplace()))
	fine(filled().Save(path))
	left := must(os.ReadDir(filepath.Dir(path)))
	expect(t, len(left) == 2, "%d files are left", len(left))
	_, err = petal.Open("dev")
	isFailure(t, err, petal.ErrNotAFilter, "a script")
	_, err = petal.Open("a\x00b")
	isFailure(t, err, petal.ErrArgument, "a path with a zero")
	_, err = petal.Open(".")
	expect(t, err != nil, "a folder is a filter")
}

func TestSavingKeepsTheModeOfTheFile(t *testing.T) {
	path := saved(t)
	fine(os.Chmod(path, 0o640))
	fine(filled().Save(path))
	expect(t, must(os.Stat(path)).Mode().Perm() == 0o640, "%v", must(os.Stat(path)).Mode())
	link := path + ".link"
	fine(os.Symlink(path, link))
	f := must(petal.New(10, 0.01))
	fine(f.Save(link))
	expect(t, must(os.Lstat(link)).Mode()&fs.ModeSymlink != 0, "the link is replaced")
	expect(t, bytes.Equal(must(os.ReadFile(path)), image(f)), "the file is not")
}

func TestDamageHasTheOffsetOfTheCore(t *testing.T) {
	path := saved(t)
	data := must(os.ReadFile(path))
	data[len(data)-100] ^= 1
	fine(os.WriteFile(path, data, 0o600))
	_, err := petal.Open(path, petal.Verify())
	failed := isFailure(t, err, petal.ErrDamaged, "one bit")
	expect(t, failed.Offset > 0, "%#v", failed)
	_, err = petal.FromBytes(data)
	isFailure(t, err, petal.ErrDamaged, "one bit in memory")
}

func TestKeyedFilesWantTheirSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyed")
	f := must(petal.New(100, 0.01, petal.WithSecret(secret)))
	must(f.AddString("a"))
	fine(f.Save(path))
	expect(t, !bytes.Contains(must(os.ReadFile(path)), secret), "the secret is written")
	expect(t, must(must(petal.Open(path, petal.Secret(secret))).ContainsString("a")), "missing")
	_, err := petal.Open(path)
	isFailure(t, err, petal.ErrSecretMissing, "no secret")
	_, err = petal.Open(path, petal.Secret(make([]byte, 16)))
	isFailure(t, err, petal.ErrSecretWrong, "another secret")
	_, err = petal.Open(path, petal.Secret([]byte("short")))
	isFailure(t, err, petal.ErrArgument, "a short secret")
	read := must(petal.FromBytes(image(f), petal.Secret(secret)))
	expect(t, must(read.Info()).Keyed && must(read.ContainsString("a")), "not keyed")
}

type full struct{ room int }

func (w *full) Write(piece []byte) (int, error) {
	if w.room -= len(piece); w.room < 0 {
		return 0, syscall.ENOSPC
	}
	return len(piece), nil
}

type short struct{}

func (short) Write(piece []byte) (int, error) { return len(piece) - 1, nil }

func TestStreams(t *testing.T) {
	f := must(petal.New(100_000, 0.001))
	must(f.AddMany(texts("%d", 0, 50_000)))
	var whole bytes.Buffer
	n := must(f.WriteTo(&whole))
	expect(t, n == int64(whole.Len()) && bytes.Equal(whole.Bytes(), image(f)), "%d written", n)
	data := whole.Bytes()
	for _, reader := range []io.Reader{bytes.NewReader(data), iotest.HalfReader(bytes.NewReader(data)),
		iotest.DataErrReader(bytes.NewReader(data))} {
		read := must(petal.Read(reader, petal.ExpectBytes(uint64(len(data)))))
		expect(t, bytes.Equal(image(read), data), "other bytes")
		must(read.AddString("more"))
	}
	var again petal.Filter
	n = must(again.ReadFrom(iotest.OneByteReader(bytes.NewReader(image(filled())))))
	expect(t, bytes.Equal(image(&again), image(filled())) && n == int64(len(image(filled()))), "%d", n)
	before := image(&again)
	_, err := again.ReadFrom(bytes.NewReader(data[:len(data)-1]))
	isFailure(t, err, petal.ErrTruncated, "cut off")
	expect(t, bytes.Equal(image(&again), before), "a failure changed the filter")
	must(again.ReadFrom(bytes.NewReader(data)))
	expect(t, bytes.Equal(image(&again), data), "not replaced")
	fine(again.UnmarshalBinary(before))
	expect(t, bytes.Equal(must(again.MarshalBinary()), before), "not replaced again")

	for _, room := range []int{0, 100, len(data) - 1} {
		_, err = f.WriteTo(&full{room})
		expect(t, errors.Is(err, syscall.ENOSPC), "%v", err)
	}
	_, err = f.WriteTo(short{})
	expect(t, errors.Is(err, io.ErrShortWrite), "%v", err)
	broken := errors.New("broken")
	_, err = petal.Read(iotest.ErrReader(broken))
	expect(t, errors.Is(err, broken), "%v", err)
	_, err = petal.Read(bytes.NewReader(data), petal.WithMaxBytes(100))
	isFailure(t, err, petal.ErrLimit, "MaxBytes")
	_, err = petal.FromBytes(data, petal.WithMemoryLimit(100))
	isFailure(t, err, petal.ErrLimit, "MemoryLimit")
	must(f.AddString("it is free again"))
}

type panics struct{}

func (panics) Write([]byte) (int, error) { panic("mine") }

func TestAPanicOfTheWriterIsTheCallersAndBreaksNothing(t *testing.T) {
	f := filled()
	for i := 0; i < 3; i++ {
		func() {
			defer func() { expect(t, recover() == "mine", "another panic") }()
			f.WriteTo(panics{})
		}()
		must(f.AddString("it is free again"))
	}
}

func TestFiltersPackedWithGzipAreOpenedAndBrokenOnesRefused(t *testing.T) {
	path := "vectors/dcso/n100_p0.01.bloom.gz"
	plain := must(petal.Open("vectors/dcso/n100_p0.01.bloom", petal.FromFormat("dcso")))
	for _, format := range []string{"auto", "dcso", "dcso-gzip"} {
		for _, mode := range []petal.Mode{petal.ReadOnly, petal.Load} {
			f, err := petal.Open(path, petal.FromFormat(format), petal.WithMode(mode))
			expect(t, err == nil, "%s: %v", format, err)
			expect(t, must(f.ContentID()) == must(plain.ContentID()) && f.Path() == path, "%s", format)
			_, err = f.AddString("new")
			expect(t, (err == nil) == (mode == petal.Load), "%s, mode %d: %v", format, mode, err)
		}
	}
	_, err := petal.Open(path, petal.FromFormat("guava"))
	expect(t, err != nil, "it is no file of Guava")
	_, err = petal.Open(path, petal.WithMode(petal.Writable), petal.FromFormat("dcso"))
	isFailure(t, err, petal.ErrUnsupported, "changing it in place")
	var f petal.Filter
	packed := must(os.ReadFile(path))
	n := must(f.ReadFrom(bytes.NewReader(packed)))
	expect(t, n == int64(len(packed)), "%d of %d bytes", n, len(packed))
	_, err = petal.FromBytes(packed[:len(packed)-3])
	isFailure(t, err, petal.ErrTruncated, "cut")
	packed[len(packed)-6] ^= 1
	_, err = petal.FromBytes(packed)
	isFailure(t, err, petal.ErrDamaged, "another checksum")
	var bomb bytes.Buffer
	packer := gzip.NewWriter(&bomb)
	fill := make([]byte, 1<<20)
	copy(fill, must(plain.Bytes("dcso")))
	for i := 0; i < 40; i++ {
		must(packer.Write(fill))
	}
	fine(packer.Close())
	_, err = petal.FromBytes(bomb.Bytes(), petal.WithMemoryLimit(1<<20))
	isFailure(t, err, petal.ErrLimit, "40 MiB in 40 KB")
}

func TestKeysOfAFileAreWhatItOrTheCallerSays(t *testing.T) {
	f := must(petal.New(100, 0.001, petal.WithFormat("guava")))
	must(f.AddMany(petal.Bytes{{5, 0, 0, 0}, {255, 255, 255, 255}})) // as Guava's integerFunnel
	data := must(f.Bytes("guava"))
	read := must(petal.FromBytes(data, petal.FromFormat("guava"), petal.OfKeys(petal.Int32Keys)))
	expect(t, must(read.ContainsInt64(5)) && must(read.ContainsAll(petal.Int64s{-1, 5})), "missed")
	_, err := read.ContainsString("5")
	isFailure(t, err, petal.ErrKeyType, "a string")
	clone := must(read.Clone())
	expect(t, must(clone.ContainsInt64(5)), "missed in a copy")
	text := image(must(petal.New(10, 0.1, petal.WithKeyType(petal.TextKeys))))
	_, err = petal.FromBytes(text, petal.OfKeys(petal.Int64Keys))
	isFailure(t, err, petal.ErrKeyType, "a text filter")
	_, err = petal.FromBytes(text, petal.OfKeys(99))
	isFailure(t, err, petal.ErrArgument, "no such type")
}

// ---- damage ----

// Creates a file with 100,000 keys, zeroes some of its bytes, and finds a key that a filter mapped
// from the file then misses.
func damagedFile(t *testing.T, bytes int) (path string, members petal.Strings, denied int) {
	path, members = t.TempDir()+"/damaged.petal", texts("key-%d", 0, 100_000)
	f := must(petal.New(uint64(len(members)), 0.01))
	must(f.AddMany(members))
	fine(f.Save(path))
	data := must(os.ReadFile(path))
	at := len(data) - 40_000
	for bits.OnesCount8(data[at]) < 5 {
		at++
	}
	copy(data[at:], make([]byte, bytes))
	fine(os.WriteFile(path, data, 0o600))
	if isWasm { // files can't be mapped, so every file is verified when it is read
		return path, members, 0
	}
	blind := must(petal.Open(path, petal.NoVerify()))
	expect(t, !must(blind.Info()).Verifies, "it verifies")
	answers := must(blind.ContainsMany(members))
	for denied < len(answers) && answers[denied] {
		denied++
	}
	expect(t, denied < len(answers) && !must(blind.ContainsString(members[denied])),
		"the damage does no harm: it proves nothing")
	return path, members, denied
}

func TestNoAnswerComesFromDamagedBits(t *testing.T) {
	for _, bytes := range []int{1, 8192} {
		path, members, denied := damagedFile(t, bytes)
		if isWasm {
			_, err := petal.Open(path)
			isFailure(t, err, petal.ErrDamaged, "Open")
			continue
		}
		for _, mode := range []petal.Mode{petal.ReadOnly, petal.Writable} {
			f := must(petal.Open(path, petal.WithMode(mode)))
			info := must(f.Info())
			expect(t, info.Verifies && info.Verifiable && info.UncheckedBlocks > 0, "%v", info)
			in, err := f.ContainsString(members[denied])
			failed := isFailure(t, err, petal.ErrDamaged, "ContainsString")
			expect(t, in && failed.Offset == -1 && failed.Path == path, "%v, %#v", in, failed)
			refused := 0
			for round := 0; round < 2; round++ {
				for i, key := range members[:30_000] {
					in, err := f.Contains([]byte(key))
					expect(t, in, "%s is denied", key)
					expect(t, err != nil || i != denied, "%s is not refused", key)
					if err != nil {
						isFailure(t, err, petal.ErrDamaged, key)
						refused++
					}
				}
			}
			expect(t, 0 < refused && refused < 30_000, "%d refused", refused)
			for _, keys := range []petal.Strings{members, members[denied : denied+3]} {
				answers, err := f.ContainsMany(keys)
				failed = isFailure(t, err, petal.ErrDamaged, "ContainsMany")
				at := int(failed.Offset)
				expect(t, 0 <= at && at <= denied && count(answers) == len(keys), "at %d", at)
				expect(t, count(must(f.ContainsMany(keys[:at]))) == at, "before %d", at)
				_, err = f.ContainsString(keys[at])
				isFailure(t, err, petal.ErrDamaged, "the key of that index")
				all, err := f.ContainsAll(keys)
				isFailure(t, err, petal.ErrDamaged, "ContainsAll")
				expect(t, all, "ContainsAll: something is certain")
			}
			isFailure(t, only(f.Stats()), petal.ErrDamaged, "Stats")
			isFailure(t, only(f.Verify()), petal.ErrDamaged, "Verify")
			fine(f.Close())
		}
		isFailure(t, only(petal.Open(path, petal.Verify())), petal.ErrDamaged, "Verify")
		isFailure(t, only(petal.Open(path, petal.WithMode(petal.Load))), petal.ErrDamaged, "Load")
	}
}

func TestASoundFileIsSoonVerifiedAndThenAskedInGo(t *testing.T) {
	path, members := t.TempDir()+"/sound.petal", texts("key-%d", 0, 100_000)
	made := must(petal.New(uint64(len(members)), 0.01))
	must(made.AddMany(members))
	fine(made.Save(path))
	f := must(petal.Open(path))
	expect(t, must(f.Info()).UncheckedBlocks > 0 || isWasm, "nothing to verify")
	absent := texts("absent %d", 0, 20_000)
	expected := must(made.ContainsMany(absent))
	for _, key := range members {
		expect(t, must(f.ContainsString(key)), "%s is missed", key)
	}
	expect(t, must(f.Info()).UncheckedBlocks == 0, "not all is verified")
	for i, key := range absent {
		expect(t, must(f.ContainsString(key)) == expected[i], "%s differs", key)
	}
}
