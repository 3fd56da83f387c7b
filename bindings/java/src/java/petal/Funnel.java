package petal;

/**
 * What the bytes of a key of some type are, as in Guava: the funnel puts its fields, one after the
 * other.
 *
 * <pre>{@code
 * Funnel<Person> byName = (person, into) -> into.putString(person.first).putString(person.last);
 * filter.by(byName).contains(person);
 * }</pre>
 *
 * <p>Fields have no mark between them: "ab" and "c" are the bytes of "a" and "bc". A filter that
 * Guava filled by a funnel with the same calls has the same bytes.
 */
@FunctionalInterface
public interface Funnel<T> {
    /** Puts the fields of a key. */
    void funnel(T from, Sink into);
}
