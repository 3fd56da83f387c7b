package petal;

/**
 * Defines the bytes of a key of some type, as in Guava: the funnel puts its fields, one after the
 * other.
 *
 * <pre>{@code
 * Funnel<Person> byName = (person, into) -> into.putString(person.first).putString(person.last);
 * filter.by(byName).contains(person);
 * }</pre>
 *
 * <p>Nothing separates fields: "ab" and "c" give the same bytes as "a" and "bc". If Guava fills a
 * filter through a funnel that makes the same calls, its keys have the same bytes.
 */
@FunctionalInterface
public interface Funnel<T> {
    /** Puts the fields of a key. */
    void funnel(T from, Sink into);
}
