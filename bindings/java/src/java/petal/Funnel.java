package petal;

/**
 * Defines how a key of type T becomes bytes, as in Guava: the funnel puts the key's fields into a
 * sink, one after the other.
 *
 * <pre>{@code
 * Funnel<Person> byName = (person, into) -> into.putString(person.first).putString(person.last);
 * filter.by(byName).contains(person);
 * }</pre>
 *
 * <p>Fields are not separated: "ab" and "c" produce the same bytes as "a" and "bc". A Guava funnel
 * that makes the same calls produces the same bytes.
 */
@FunctionalInterface
public interface Funnel<T> {
    /** Puts a key's fields into the sink. */
    void funnel(T from, Sink into);
}
