import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import petal.BloomFilter;
import petal.Builder;
import petal.Info;
import petal.Mode;
import petal.PetalException;
import petal.PetalIOException;
import petal.Scheme;

/**
 * Runs the cases in vectors/bindings/cases.txt, which every binding must pass. They cover sizes,
 * key hashes, false positives, and failures with the core's messages.
 */
final class CasesTest {
    private static final class Case {
        final String[] words;
        final String outcome;

        Case(String[] words, String outcome) {
            this.words = words;
            this.outcome = outcome;
        }
    }

    private static List<Case> cases(String verb) throws IOException {
        List<Case> found = new ArrayList<>();
        for (String line : Files.readAllLines(VectorsTest.VECTORS.resolve("bindings/cases.txt"))) {
            int equals = line.indexOf(" = ");
            if (!line.startsWith(verb + " ") || equals < 0) continue;
            String words = line.substring(verb.length() + 1, Math.max(equals, verb.length() + 1));
            found.add(new Case(words.trim().isEmpty() ? new String[0] : words.trim().split(" +"),
                    line.substring(equals + 3)));
        }
        Tap.check(found.size() >= 5, verb);
        return found;
    }

    private static Builder options(String[] words, int from) {
        Builder builder = BloomFilter.builder().rate(0); // the table contains no default values
        for (String word : Arrays.copyOfRange(words, from, words.length)) {
            String name = word.substring(0, word.indexOf('='));
            option(builder, name, word.substring(name.length() + 1));
        }
        return builder;
    }

    private static double real(String value) {
        return value.equals("nan") ? Double.NaN : Double.parseDouble(value);
    }

    private static void option(Builder builder, String name, String value) {
        switch (name) {
            case "scheme":
                builder.scheme(Scheme.valueOf(value.toUpperCase(java.util.Locale.ROOT)));
                break;
            case "format":
                builder.format(value);
                break;
            case "rate":
                builder.rate(real(value));
                break;
            case "growth_ratio":
                builder.growthRatio(real(value));
                break;
            case "secret":
                builder.secret(VectorsTest.hex(value));
                break;
            case "grow":
                builder.grow();
                break;
            default:
                number(builder, name, Long.parseUnsignedLong(value));
        }
    }

    private static void number(Builder builder, String name, long value) {
        switch (name) {
            case "capacity":
                builder.capacity(value);
                break;
            case "memory":
                builder.memory(value);
                break;
            case "bits":
                builder.bits(value);
                break;
            case "hashes":
                builder.hashes(Math.toIntExact(value));
                break;
            case "lines_per_key":
                builder.linesPerKey(Math.toIntExact(value));
                break;
            case "seed":
                builder.seed(value);
                break;
            case "growth_step":
                builder.growthStep(Math.toIntExact(value));
                break;
            case "window":
                builder.window(value);
                break;
            case "window_ms":
                builder.windowTime(Duration.ofMillis(value));
                break;
            case "generations":
                builder.generations(Math.toIntExact(value));
                break;
            default:
                throw new AssertionError(name);
        }
    }

    static void testPlansHaveTheSizesOfTheCore() throws IOException {
        for (Case one : cases("plan")) {
            Info plan = options(one.words, 0).plan();
            String sizes = plan.bits() + " " + plan.hashes() + " " + plan.bytes();
            Tap.same(sizes, one.outcome, String.join(" ", one.words));
        }
    }

    static void testWhatNoFilterCanBeIsRefusedInTheWordsOfTheCore() throws IOException {
        int beyond = 0;
        for (Case one : cases("refuse")) {
            String words = String.join(" ", one.words);
            if (words.contains("=18446744073709551615")) { // too large for a Java long
                Tap.raises(IllegalArgumentException.class, () -> options(one.words, 0), words);
                beyond++;
                continue;
            }
            Builder builder = options(one.words, 0);
            for (Tap.Call call : new Tap.Call[] {builder::build, builder::plan}) {
                PetalException error = Tap.raises(PetalException.class, call, words);
                Tap.same(error.status() + ": " + error.getMessage(), one.outcome, words);
            }
        }
        Tap.same(beyond, 2, "cases above 2^63");
    }

    static void testKeysHaveTheHashesOfTheCore() throws IOException {
        try (BloomFilter filter = BloomFilter.create(10, 0.01)) {
            for (Case one : cases("hash")) {
                Object key = new String(VectorsTest.hex(one.words[1].length() % 2 == 0
                        || one.words[1].equals("-") ? one.words[1] : "00"), UTF_8);
                if (one.words[0].equals("i64")) key = Long.parseLong(one.words[1]);
                if (one.words[0].equals("f64"))
                    key = Double.longBitsToDouble(Long.parseUnsignedLong(one.words[1], 16));
                String hash = String.format("%016x", filter.hashKey(key));
                Tap.same(hash, one.outcome, one.words[1]);
            }
        }
    }

    private static Object key(String type, int i) {
        IntFunction<Object> kind = type.equals("text") ? n -> "key-" + n
                : type.equals("i64") ? n -> (long) n : n -> n / 2.0;
        return kind.apply(i);
    }

    static void testFiltersErrAsTheCoreDoes() throws IOException {
        for (Case one : cases("fill")) {
            int count = Integer.parseInt(one.words[1]);
            int asked = Integer.parseInt(one.words[2]);
            int added = 0;
            int passed = 0;
            try (BloomFilter filter = options(one.words, 3).build()) {
                for (int i = 0; i < count; i++) if (filter.add(key(one.words[0], i))) added++;
                for (int i = count; i < count + asked; i++)
                    if (filter.contains(key(one.words[0], i))) passed++;
                String found = added + " " + passed + " "
                        + String.format("%016x", filter.contentId());
                Tap.same(found, one.outcome, String.join(" ", one.words));
            }
        }
    }

    static void testBrokenFilesAreRefusedInTheWordsOfTheCore() throws IOException {
        for (Case one : cases("open")) {
            int last = one.words.length - 1;
            Path file = VectorsTest.VECTORS.resolve(one.words[last]);
            Exception error = Tap.raises(Exception.class,
                    () -> BloomFilter.open(file, Mode.READ, VectorsTest.format("petal").verify()),
                    file);
            String status = String.join(" ", Arrays.copyOf(one.words, last));
            Tap.same(VectorsTest.statusOf(error), status, file);
            long offset = error instanceof PetalIOException ? ((PetalIOException) error).offset()
                    : ((PetalException) error).offset();
            String found = error.getMessage() + " @ " + (offset < 0 ? "-" : "" + offset);
            Tap.same(found, one.outcome, file);
        }
    }
}
