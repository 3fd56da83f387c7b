import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.serializers.JavaSerializer;
import java.io.Serializable;
import java.util.List;
import petal.BloomFilter;
import petal.KeyType;
import petal.Scheme;

/** Tests that Kryo can serialize filters, alone and inside other objects, with its default
 * serializer and with Java's. */
final class KryoTest {
    private static final byte[] SECRET = new byte[16];

    /** Represents a closure that a job sends to its workers. */
    static final class Job implements Serializable {
        private static final long serialVersionUID = 1;
        BloomFilter known;
        String name = "job";
        BloomFilter again;
    }

    private static Kryo kryo() {
        Kryo kryo = new Kryo();
        kryo.setRegistrationRequired(false); // as Spark does
        kryo.setReferences(true);
        return kryo;
    }

    private static Object carried(Kryo kryo, Object one) {
        Output out = new Output(1 << 12, -1);
        kryo.writeClassAndObject(out, one);
        Input in = new Input(out.toBytes());
        Object copy = kryo.readClassAndObject(in);
        Tap.same(in.position(), (int) in.limit(), "all of it is read");
        return copy;
    }

    private static BloomFilter filter() {
        BloomFilter filter = BloomFilter.builder().capacity(10_000).metadata(new byte[] {1, 2})
                .build();
        filter.addAll(List.of("a", "b", 5, 0.5));
        return filter;
    }

    private static void works(BloomFilter copy, BloomFilter filter) {
        Tap.same(copy.toBytes(), filter.toBytes(), "the same bytes");
        Tap.check(copy.containsAll(List.of("a", "b", 5)) && !copy.contains("c"), "keys");
        Tap.check(copy.add("c") && copy.contains("c") && !filter.contains("c"), "a copy");
        Tap.same(copy.path(), null, "path");
        copy.close();
        Tap.check(copy.isClosed() && !filter.isClosed(), "closed");
    }

    static void testAFilterIsCarriedAsKryoFindsIt() {
        BloomFilter filter = filter();
        works((BloomFilter) carried(kryo(), filter), filter);
        works(kryo().copy(filter), filter);
    }

    static void testAFilterInsideAnObjectIsCarried() {
        Job job = new Job();
        job.known = job.again = filter();
        Job copy = (Job) carried(kryo(), job);
        Tap.check(copy.known == copy.again && copy.name.equals("job"), "one filter");
        works(copy.known, job.known);
    }

    static void testTheTypeOfKeysGoesAlong() {
        BloomFilter narrow = BloomFilter.builder().capacity(10).keyType(KeyType.I32)
                .scheme(Scheme.CLASSIC).build();
        narrow.add(7);
        BloomFilter copy = (BloomFilter) carried(kryo(), narrow);
        Tap.check(copy.keyType() == KeyType.I32 && copy.contains(7), "I32");
        Tap.raises(IllegalArgumentException.class, () -> copy.add("text"), "text");
    }

    static void testAKeyedOrClosedFilterIsRefused() {
        BloomFilter keyed = BloomFilter.builder().capacity(10).secret(SECRET).build();
        Throwable error = Tap.raises(RuntimeException.class, () -> carried(kryo(), keyed), "keyed");
        while (error.getCause() != null) error = error.getCause();
        Tap.check(error.getMessage().contains("a keyed filter"), error);
        BloomFilter closed = filter();
        closed.close();
        Tap.raises(RuntimeException.class, () -> carried(kryo(), closed), "closed");
    }

    static void testARegisteredFilterIsCarriedToo() {
        Kryo kryo = kryo();
        kryo.setRegistrationRequired(true);
        kryo.register(BloomFilter.class, new JavaSerializer());
        BloomFilter filter = filter();
        works((BloomFilter) carried(kryo, filter), filter);
    }
}
