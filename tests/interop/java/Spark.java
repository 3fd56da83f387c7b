/* Spark.java - queries a filter in Spark in two ways: with the example KnownUrls as a UDF, and with
 * a broadcast filter. For each row, the answer must be the same as without Spark. */
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.FilterFunction;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataTypes;
import petal.BloomFilter;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

class Spark {
    private static List<String> urls(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "https://example.com/é?page=" + i).collect(Collectors.toList());
    }

    private static void same(Object found, Object expected, String what) {
        if (!found.equals(expected)) throw new AssertionError(what);
    }

    public static void main(String[] args) {
        SparkSession spark = SparkSession.builder().master("local[2]").appName("interop").config("spark.ui.enabled", "false")
                .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate();
        List<String> visits = urls(0, 20_000);
        Set<String> exact = new HashSet<>(urls(0, 10_000));
        Dataset<String> frame = spark.createDataset(visits, Encoders.STRING()).repartition(5);

        /* Each worker creates one filter and serializes it, so that the filters can be merged. */
        byte[] built = frame.filter((FilterFunction<String>) exact::contains).mapPartitions((MapPartitionsFunction<String, byte[]>) rows -> {
            BloomFilter part = BloomFilter.create(10_000, 0.05); // sized for all keys, so that the
                                                                 // parts can be merged
            rows.forEachRemaining(part::add);
            return List.of(part.toBytes()).iterator();
        }, Encoders.BINARY()).javaRDD().reduce((a, b) -> {
            BloomFilter whole = BloomFilter.fromBytes(a);
            whole.merge(BloomFilter.fromBytes(b));
            return whole.toBytes();
        });
        BloomFilter once = BloomFilter.create(10_000, 0.05);
        once.addAll(urls(0, 10_000));
        try {
            BloomFilter merged = BloomFilter.fromBytes(built);
            same(merged.contentId(), once.contentId(), "the parts, merged");
            merged.save(Path.of(args[0]));
        } catch (java.io.IOException failure) {
            throw new java.io.UncheckedIOException(failure);
        }
        Set<String> expected = visits.stream().filter(once).collect(Collectors.toSet());
        if (expected.size() <= 10_050 || expected.size() > 11_000) throw new AssertionError("it proves little: " + expected.size());

        frame.toDF("url").createOrReplaceTempView("visits");
        KnownUrls known = new KnownUrls(args[0]);
        spark.udf().register("known", (UDF1<String, Boolean>) known::test, DataTypes.BooleanType);
        same(new HashSet<>(spark.sql("SELECT url FROM visits WHERE known(url)").as(Encoders.STRING()).collectAsList()), expected, "the UDF");

        Broadcast<BloomFilter> sent = new JavaSparkContext(spark.sparkContext()).broadcast(once);
        List<String> kept = new ArrayList<>(frame.filter((FilterFunction<String>) url -> sent.value().contains(url)).collectAsList());
        same(new HashSet<>(kept), expected, "a filter that is broadcast");

        SerializerInstance kryo = new KryoSerializer(spark.sparkContext().getConf()).newInstance();
        ClassTag<BloomFilter> type = ClassTag$.MODULE$.apply(BloomFilter.class);
        BloomFilter copy = kryo.deserialize(kryo.serialize(once, type), type);
        same(copy.contentId(), once.contentId(), "a filter by Kryo, as Spark sets it up");
        same(visits.stream().filter(copy).collect(Collectors.toSet()), expected, "its answers");
        spark.stop();
        System.out.println(expected.size() + " of " + visits.size() + " rows");
    }
}
