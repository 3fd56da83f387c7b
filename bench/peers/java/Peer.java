/* Peer.java - runs Guava's BloomFilter, with the funnel for the key type, as a contender for
 * ../driver.c, which describes the protocol. */
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.function.LongFunction;

class Peer {
    static long mix(long x) {
        x = (x ^ x >>> 30) * 0xbf58476d1ce4e5b9L;
        x = (x ^ x >>> 27) * 0x94d049bb133111ebL;
        return x ^ x >>> 31;
    }

    /* The keys are boxed before the clock starts, so boxing a long is not measured. */
    static Object[] keys(int count, long from, LongFunction<Object> key) {
        Object[] keys = new Object[count];
        for (int i = 0; i < count; i++) keys[i] = key.apply(mix(from + i));
        return keys;
    }

    static int countFound(BloomFilter<Object> filter, Object[] keys) {
        int found = 0;
        for (Object key : keys)
            if (filter.mightContain(key)) found++;
        return found;
    }

    static void add(BloomFilter<Object> filter, Object[] keys) {
        for (Object key : keys) filter.put(key);
    }

    static String round(Funnel<Object> funnel, Object[] keys, Object[] absent, double rate, int repeats) throws Exception {
        double asked = keys.length;
        long add = Long.MAX_VALUE, hit = add, miss = add;
        int found = 0;
        BloomFilter<Object> filter = null;
        for (int i = 0; i < repeats; i++) {
            long start = System.nanoTime();
            filter = BloomFilter.create(funnel, keys.length, rate);
            add(filter, keys);
            long added = System.nanoTime();
            int members = countFound(filter, keys);
            long hits = System.nanoTime();
            found = countFound(filter, absent);
            miss = Math.min(miss, System.nanoTime() - hits);
            hit = Math.min(hit, hits - added);
            add = Math.min(add, added - start);
            if (members != keys.length) throw new IllegalStateException("keys were lost");
        }
        return String.format(Locale.ROOT, "ok %.4f %.4f %.4f %d %d", add / asked, hit / asked, miss / asked, found, bits(filter));
    }

    /* Guava's file has a 6-byte header. */
    static long bits(BloomFilter<Object> filter) throws Exception {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        filter.writeTo(file);
        return (file.size() - 6) * 8L;
    }

    @SuppressWarnings("unchecked")
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Object[] in = {}, out = {};
        String made = "";
        for (String line; (line = lines.readLine()) != null;) {
            String[] word = line.split(" ");
            int count = Integer.parseInt(word[1]);
            boolean text = word[4].equals("text");
            if (!made.equals(count + word[4])) {
                LongFunction<Object> key = text ? n -> String.format("http://a.io/%016x", n) : n -> n;
                in = keys(count, 0, key);
                out = keys(count, 1L << 40, key);
                made = count + word[4];
            }
            Funnel<?> funnel = text ? Funnels.stringFunnel(StandardCharsets.UTF_8) : Funnels.longFunnel();
            String said = round((Funnel<Object>) funnel, in, out, Double.parseDouble(word[3]), Integer.parseInt(word[5]));
            System.out.println(said + " " + (text ? out[count - 1] : String.format("%016x", out[count - 1])));
        }
    }
}
