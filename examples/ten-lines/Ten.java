// Ten.java - creates, saves, opens and queries a filter.
import java.nio.file.Path;
import petal.BloomFilter;

class Ten {
    public static void main(String[] args) throws Exception {
        BloomFilter seen = BloomFilter.create(1_000_000, 0.01);
        seen.add("https://example.com/");
        System.out.println(seen.contains("https://example.org/"));
        seen.save(Path.of("seen.petal"));
        try (BloomFilter again = BloomFilter.open(Path.of("seen.petal"))) {
            System.out.println(again.contains("https://example.com/"));
        }
    }
}
