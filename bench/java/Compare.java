import com.google.common.hash.Funnels;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import petal.BloomFilter;
import petal.Builder;

/**
 * Compare [KEYS [ROUNDS]] - compares petal-bloom with Guava's BloomFilter, in one JVM.
 *
 * <p>The thread's CPU time per key, the minimum of all rounds; each round runs every contender in
 * turn, after three warm-up rounds. The program prints the ratio of these minima, and then the
 * ratio by round: median (min..max). Above 1x, Petal is faster.
 *
 * <p>Longs for Guava are boxed before the clock starts.
 */
final class Compare {
    private static final double RATE = 0.01;
    private static final int WARM_UP = 3;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private static long mix(long x) {
        x = (x ^ x >>> 30) * 0xbf58476d1ce4e5b9L;
        x = (x ^ x >>> 27) * 0x94d049bb133111ebL;
        return x ^ x >>> 31;
    }

    /** A set of keys, in each form that a contender accepts. */
    private static final class Keys {
        final String[] texts;
        final List<String> list;
        final long[] longs;
        final Long[] boxed;
        /** The same keys in lists and arrays of 8 and of 64 keys, which are created before the
         * clock starts. */
        final Map<Integer, List<List<String>>> lists = new LinkedHashMap<>();
        final Map<Integer, List<long[]>> arrays = new LinkedHashMap<>();

        Keys(int count, long from) {
            longs = new long[count];
            for (int i = 0; i < count; i++) longs[i] = mix(from + i);
            boxed = Arrays.stream(longs).boxed().toArray(Long[]::new);
            texts = Arrays.stream(longs).mapToObj(n -> String.format("https://a.example/%015x",
                    n >>> 4)).toArray(String[]::new);
            list = Arrays.asList(texts);
            for (int each : new int[] {8, 64}) {
                List<List<String>> listsOf = new ArrayList<>();
                List<long[]> arraysOf = new ArrayList<>();
                for (int i = 0; i < count; i += each) {
                    int end = Math.min(i + each, count);
                    listsOf.add(new ArrayList<>(list.subList(i, end)));
                    arraysOf.add(Arrays.copyOfRange(longs, i, end));
                }
                lists.put(each, listsOf);
                arrays.put(each, arraysOf);
            }
        }
    }

    /** A contender: a filter, and the operations that process all keys. */
    private interface Contender {
        void make(int count);

        void add(Keys keys);

        long ask(Keys keys);
    }

    private abstract static class Petal implements Contender {
        BloomFilter filter;

        @Override
        public void make(int count) {
            if (filter != null) filter.close();
            filter = options(BloomFilter.builder().capacity(count).rate(RATE)).build();
        }

        Builder options(Builder builder) {
            return builder;
        }
    }

    private static class PetalTexts extends Petal {
        @Override
        public void add(Keys keys) {
            for (String key : keys.texts) filter.add(key);
        }

        @Override
        public long ask(Keys keys) {
            long found = 0;
            for (String key : keys.texts) if (filter.contains(key)) found++;
            return found;
        }
    }

    private static final class PetalOfGuava extends PetalTexts {
        @Override
        Builder options(Builder builder) {
            return builder.format("guava");
        }
    }

    private static long count(boolean[] answers) {
        long found = 0;
        for (boolean answer : answers) if (answer) found++;
        return found;
    }

    private static final class PetalTextBatch extends Petal {
        @Override
        public void add(Keys keys) {
            filter.addAll(keys.list);
        }

        @Override
        public long ask(Keys keys) {
            return count(filter.containsEach(keys.list));
        }
    }

    private static final class PetalTextBatches extends Petal {
        private final int each;

        PetalTextBatches(int each) {
            this.each = each;
        }

        @Override
        public void add(Keys keys) {
            for (List<String> list : keys.lists.get(each)) filter.addAll(list);
        }

        @Override
        public long ask(Keys keys) {
            long found = 0;
            for (List<String> list : keys.lists.get(each)) found += count(filter.containsEach(list));
            return found;
        }
    }

    private static final class PetalLongs extends Petal {
        @Override
        public void add(Keys keys) {
            for (long key : keys.longs) filter.add(key);
        }

        @Override
        public long ask(Keys keys) {
            long found = 0;
            for (long key : keys.longs) if (filter.contains(key)) found++;
            return found;
        }
    }

    private static final class PetalLongBatch extends Petal {
        @Override
        public void add(Keys keys) {
            filter.addAll(keys.longs);
        }

        @Override
        public long ask(Keys keys) {
            return count(filter.containsEach(keys.longs));
        }
    }

    private static final class PetalLongBatches extends Petal {
        private final int each;

        PetalLongBatches(int each) {
            this.each = each;
        }

        @Override
        public void add(Keys keys) {
            for (long[] array : keys.arrays.get(each)) filter.addAll(array);
        }

        @Override
        public long ask(Keys keys) {
            long found = 0;
            for (long[] array : keys.arrays.get(each)) found += count(filter.containsEach(array));
            return found;
        }
    }

    private static final class GuavaTexts implements Contender {
        private com.google.common.hash.BloomFilter<CharSequence> filter;

        @Override
        public void make(int count) {
            filter = com.google.common.hash.BloomFilter.create(
                    Funnels.stringFunnel(StandardCharsets.UTF_8), count, RATE);
        }

        @Override
        public void add(Keys keys) {
            for (String key : keys.texts) filter.put(key);
        }

        @Override
        public long ask(Keys keys) {
            long found = 0;
            for (String key : keys.texts) if (filter.mightContain(key)) found++;
            return found;
        }
    }

    private static final class GuavaLongs implements Contender {
        private com.google.common.hash.BloomFilter<Long> filter;

        @Override
        public void make(int count) {
            filter = com.google.common.hash.BloomFilter.create(Funnels.longFunnel(), count, RATE);
        }

        @Override
        public void add(Keys keys) {
            for (Long key : keys.boxed) filter.put(key);
        }

        @Override
        public long ask(Keys keys) {
            long found = 0;
            for (Long key : keys.boxed) if (filter.mightContain(key)) found++;
            return found;
        }
    }

    // ---- rounds ----

    private static final String[] STEPS = {"add", "in", "absent"};
    /** The time per key in ns, by contender, step and round. */
    private static final Map<String, double[][]> TIMES = new LinkedHashMap<>();
    private static final Map<String, Double> RATES = new LinkedHashMap<>();

    private static double timed(Runnable step, int count) {
        long start = THREADS.getCurrentThreadCpuTime();
        step.run();
        return (double) (THREADS.getCurrentThreadCpuTime() - start) / count;
    }

    private static void round(String name, Contender one, Keys in, Keys out, int number) {
        int count = in.longs.length;
        one.make(count);
        long[] found = new long[2];
        double[] times = {timed(() -> one.add(in), count),
            timed(() -> found[0] = one.ask(in), count),
            timed(() -> found[1] = one.ask(out), count)};
        if (found[0] != count) throw new IllegalStateException(name + ": keys were lost");
        RATES.put(name, (double) found[1] / count);
        for (int i = 0; i < STEPS.length && number >= 0; i++)
            TIMES.get(name)[i][number] = times[i];
    }

    private static double least(double[] times) {
        return Arrays.stream(times).min().getAsDouble();
    }

    private static String ratio(double[] slow, double[] fast) {
        double[] ratios = new double[slow.length];
        for (int i = 0; i < ratios.length; i++) ratios[i] = slow[i] / fast[i];
        Arrays.sort(ratios);
        return String.format(Locale.ROOT, "%.1fx; %.1fx (%.1f..%.1f)", least(slow) / least(fast),
                ratios[ratios.length / 2], ratios[0], ratios[ratios.length - 1]);
    }

    private static void compare(String slow, String fast, double goal) {
        for (int i = 0; i < STEPS.length; i++) {
            double[] theirs = TIMES.get(slow)[i];
            double[] ours = TIMES.get(fast)[i];
            boolean reached = least(theirs) / least(ours) >= goal;
            boolean counts = goal > 0 && i > 0; // goals apply only to queries
            System.out.printf("| %s, %s | %s | %s | %s | %s |%n", slow, STEPS[i], fast,
                    ratio(theirs, ours), counts ? String.format("%.0fx", goal) : "",
                    counts ? reached ? "reached" : "**missed**" : "");
        }
    }

    public static void main(String[] args) {
        int count = args.length > 0 ? Integer.parseInt(args[0]) : 1_000_000;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 7;
        Keys in = new Keys(count, 0);
        Keys out = new Keys(count, 1L << 40);
        Map<String, Contender> contenders = new LinkedHashMap<>();
        contenders.put("petal", new PetalTexts());
        contenders.put("petal, lists of 8", new PetalTextBatches(8));
        contenders.put("petal, lists of 64", new PetalTextBatches(64));
        contenders.put("petal, list", new PetalTextBatch());
        contenders.put("petal, Guava's filter", new PetalOfGuava());
        contenders.put("Guava", new GuavaTexts());
        contenders.put("petal, longs", new PetalLongs());
        contenders.put("petal, long[8]", new PetalLongBatches(8));
        contenders.put("petal, long[64]", new PetalLongBatches(64));
        contenders.put("petal, long[]", new PetalLongBatch());
        contenders.put("Guava, longs", new GuavaLongs());
        contenders.keySet().forEach(name -> TIMES.put(name, new double[STEPS.length][rounds]));
        for (int number = -WARM_UP; number < rounds; number++)
            for (Map.Entry<String, Contender> one : contenders.entrySet())
                round(one.getKey(), one.getValue(), in, out, number);

        System.out.printf("Java %s, petal %s, Guava %s; %d keys, %d rounds.%n%n",
                System.getProperty("java.version"), BloomFilter.version(),
                System.getProperty("guava.version"), count, rounds);
        System.out.println("| CPU ns per key | rate | add | in | absent |");
        System.out.println("| --- | --- | --- | --- | --- |");
        TIMES.forEach((name, times) -> System.out.printf("| %s | %.2f %% | %s |%n", name,
                100 * RATES.get(name), Arrays.stream(times)
                        .map((Function<double[], String>) steps ->
                                String.format(Locale.ROOT, "%.1f", least(steps)))
                        .collect(Collectors.joining(" | "))));
        System.out.println("\n| times as fast as | | of least times; by round | goal | |");
        System.out.println("| --- | --- | --- | --- | --- |");
        compare("Guava", "petal", 3);
        compare("Guava", "petal, lists of 8", 0);
        compare("Guava", "petal, lists of 64", 0);
        compare("Guava", "petal, list", 6);
        compare("Guava, longs", "petal, longs", 0);
        compare("Guava, longs", "petal, long[8]", 0);
        compare("Guava, longs", "petal, long[64]", 0);
        compare("Guava, longs", "petal, long[]", 25);
        compare("Guava", "petal, Guava's filter", 0);
    }
}
