import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import petal.BloomFilter;

/**
 * Tests whether a filter file probably contains a URL. Spark and Flink jobs can use this class as a
 * function, although it doesn't depend on their classes. A job sends only the path to its workers.
 * Each JVM maps the file once, so the filter needs no allocated memory, no matter how many tasks
 * query it.
 *
 * <pre>{@code
 * KnownUrls known = new KnownUrls("/data/known.petal");
 * spark.udf().register("known", (UDF1<String, Boolean>) known::test, DataTypes.BooleanType);
 * spark.sql("SELECT url FROM visits WHERE NOT known(url)"); // certainly new
 * }</pre>
 */
public final class KnownUrls implements Predicate<String>, Serializable {
    private static final long serialVersionUID = 1;
    private static final ConcurrentHashMap<String, BloomFilter> OPEN = new ConcurrentHashMap<>();

    private final String path;
    private transient BloomFilter filter;

    public KnownUrls(String path) {
        this.path = path;
    }

    @Override
    public boolean test(String url) {
        if (filter == null) filter = OPEN.computeIfAbsent(path, KnownUrls::map);
        return url != null && filter.contains(url);
    }

    private static BloomFilter map(String path) {
        try {
            return BloomFilter.open(Path.of(path));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
