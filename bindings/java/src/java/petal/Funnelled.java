package petal;

import java.util.Collection;
import java.util.Iterator;
import java.util.Objects;
import java.util.function.Predicate;

/**
 * A filter for keys of another type, converted by a {@link Funnel}. It has no state of its own:
 * save, close and share the underlying filter as usual.
 */
public final class Funnelled<T> implements Predicate<T> {
    private final BloomFilter filter;
    private final Funnel<? super T> funnel;

    Funnelled(BloomFilter filter, Funnel<? super T> funnel) {
        this.filter = Objects.requireNonNull(filter, "filter");
        this.funnel = Objects.requireNonNull(funnel, "funnel");
    }

    private byte[] bytesOf(T key) {
        Sink sink = new Sink();
        funnel.funnel(Objects.requireNonNull(key, "key"), sink);
        return sink.toBytes();
    }

    /** Like {@link BloomFilter#add(Object)}. */
    public boolean add(T key) {
        return filter.add(bytesOf(key));
    }

    /** Like {@link BloomFilter#contains(Object)}. */
    public boolean contains(T key) {
        return filter.contains(bytesOf(key));
    }

    @Override
    public boolean test(T key) {
        return contains(key);
    }

    /** Like {@link BloomFilter#addAll(Iterable)}. */
    public long addAll(Iterable<? extends T> keys) {
        return filter.addAll(bytesOf(keys));
    }

    /** Like {@link BloomFilter#containsEach(Iterable)}. */
    public boolean[] containsEach(Collection<? extends T> keys) {
        return filter.containsEach(bytesOf(keys));
    }

    private Iterable<byte[]> bytesOf(Iterable<? extends T> keys) {
        return () -> {
            Iterator<? extends T> rest = keys.iterator();
            return new Iterator<>() {
                @Override
                public boolean hasNext() {
                    return rest.hasNext();
                }

                @Override
                public byte[] next() {
                    return bytesOf(rest.next());
                }
            };
        };
    }

    /** The underlying filter. */
    public BloomFilter filter() {
        return filter;
    }
}
